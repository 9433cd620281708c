// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the program behind t/world: which seeds, which shape, which faults; what is printed of a run.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>

#include <CLI/CLI.hpp>

#include "modules/world/faults.hpp"
#include "modules/world/world.hpp"

namespace {

using weir::world::Options;
using weir::world::World;

std::vector<std::size_t> shape_of(const std::string& text) {
    std::vector<std::size_t> shape;
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, 'x');) {
        shape.push_back(std::stoul(part));
    }
    return shape;
}

struct Totals {
    std::uint64_t seeds = 0;
    std::uint64_t failed = 0;
    std::uint64_t steps = 0;
    double simulated_s = 0;
    weir::world::Counts counts;
};

/// \return whether all held.
bool run(const Options& options, Totals& totals, const std::string& replay) {
    World world(options);
    world.run();
    totals.seeds += 1;
    totals.steps += world.ground().agenda.steps();
    totals.simulated_s += world.ground().seconds();
    totals.counts.kills += world.counts().kills;
    totals.counts.cuts += world.counts().cuts;
    totals.counts.stops += world.counts().stops;
    totals.counts.fills += world.counts().fills;
    totals.counts.torn += world.counts().torn;
    totals.counts.boots += world.counts().boots;
    if (world.ground().violations().empty()) {
        return true;
    }
    totals.failed += 1;
    std::cout << "seed " << options.seed << " fails after " << world.ground().agenda.steps() << " steps:\n";
    for (const std::string& violation : world.ground().violations()) {
        std::cout << "  " << violation << "\n";
    }
    std::cout << "replay: " << replay << " --seed " << options.seed << " --trace\n";
    return false;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("A machine with a tree of instances, simulated from one seed under faults");
    std::uint64_t seed = 1;
    std::string seeds;
    std::string shape = "1x3x2";
    std::string faults;
    bool is_traced = false;
    Options options;
    app.add_option("--seed", seed, "the seed to run")->capture_default_str();
    app.add_option("--seeds", seeds, "FROM-TO: all of these seeds");
    app.add_flag("--trace", is_traced, "print what happens");
    app.add_option("--instances", shape, "instances of the first level, children of each, and so on")
        ->capture_default_str();
    auto* named = app.add_option("--faults", faults, "kinds of faults, with commas; empty: none");
    app.add_option("--jobs", options.jobs)->capture_default_str();
    app.add_option("--count", options.faults, "number of faults")->capture_default_str();
    CLI11_PARSE(app, argc, argv);
    options.shape = shape_of(shape);
    options.kinds = weir::world::fault_kinds();
    if (named->count() > 0) {
        options.kinds.clear();
        std::istringstream in(faults);
        for (std::string kind; std::getline(in, kind, ',');) {
            options.kinds.insert(kind);
        }
    }
    std::string replay = "t/world";
    for (int i = 1; i < argc; ++i) {
        const std::string argument = argv[i];
        if (argument == "--seed" || argument == "--seeds") {
            ++i;
        } else if (argument != "--trace") {
            replay += " " + argument;
        }
    }
    if (is_traced) {
        options.trace = [](const std::string& line) { std::cout << line << "\n"; };
    }
    std::uint64_t from = seed;
    std::uint64_t to = seed;
    if (!seeds.empty() && std::sscanf(seeds.c_str(), "%lu-%lu", &from, &to) != 2) {
        std::cerr << "--seeds wants FROM-TO\n";
        return 2;
    }
    const auto began = std::chrono::steady_clock::now();
    Totals totals;
    for (options.seed = from; options.seed <= to; ++options.seed) {
        (void)run(options, totals, replay);
    }
    const double real_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    std::printf(
        "%lu lives, %lu kills (%lu in a write), %lu links, %lu stops, %lu full disks; %lu steps; %.0f s simulated in "
        "%.1f s\n",
        totals.counts.boots, totals.counts.kills, totals.counts.torn, totals.counts.cuts, totals.counts.stops,
        totals.counts.fills, totals.steps, totals.simulated_s, real_s);
    std::printf("total %lu/%lu cases\n", totals.seeds - totals.failed, totals.seeds);
    return totals.failed == 0 ? 0 : 1;
}
