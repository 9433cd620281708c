// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the program behind t/world: which seeds, which shape, which faults; what is printed of a run.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

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

bool fails(const Options& options) {
    World world(options);
    world.run();
    return !world.ground().violations().empty();
}

/// Fewer faults and jobs with which the seed still fails: without each fault in turn, and with fewer jobs, until
/// neither goes on.
Options shrunk(Options options) {
    options.trace = {};
    for (bool is_less = true; is_less;) {
        is_less = false;
        for (std::size_t i = 0; i < options.faults; ++i) {
            Options next = options;
            if (next.left_out.insert(i).second && fails(next)) {
                options = std::move(next);
                is_less = true;
            }
        }
        for (std::size_t cut = options.jobs / 2; cut > 0; cut /= 2) {
            Options next = options;
            next.jobs -= cut;
            if (fails(next)) {
                options = std::move(next);
                is_less = true;
            }
        }
    }
    return options;
}

std::string command_of(const Options& options, const std::string& shape, const std::string& faults) {
    std::string command = "t/world --seed " + std::to_string(options.seed) + " --instances " + shape;
    command += faults.empty() ? "" : " --faults " + faults;
    command += " --jobs " + std::to_string(options.jobs) + " --count " + std::to_string(options.faults);
    std::string left_out;
    for (const std::size_t i : options.left_out) {
        left_out += (left_out.empty() ? "" : ",") + std::to_string(i);
    }
    return command + (left_out.empty() ? "" : " --without " + left_out) + " --trace";
}

/// \return whether all held.
bool run(const Options& options, Totals& totals) {
    World world(options);
    world.run();
    totals.seeds += 1;
    totals.steps += world.ground().agenda.steps();
    totals.simulated_s += world.ground().seconds();
    totals.counts.kills += world.counts().kills;
    totals.counts.powers += world.counts().powers;
    totals.counts.cuts += world.counts().cuts;
    totals.counts.stops += world.counts().stops;
    totals.counts.drains += world.counts().drains;
    totals.counts.fills += world.counts().fills;
    totals.counts.garbles += world.counts().garbles;
    totals.counts.clock_steps += world.counts().clock_steps;
    totals.counts.reloads += world.counts().reloads;
    totals.counts.lies += world.counts().lies;
    totals.counts.guests += world.counts().guests;
    totals.counts.guest_jobs += world.counts().guest_jobs;
    totals.counts.edits += world.counts().edits;
    totals.counts.removals += world.counts().removals;
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
    return false;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("A machine with a tree of instances, simulated from one seed under faults");
    std::uint64_t seed = 1;
    std::string seeds;
    std::string shape = "1x3x2";
    std::string faults;
    std::vector<std::size_t> without;
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
    app.add_option("--without", without, "faults, by their numbers from 0, that do not happen; what a failure prints")
        ->delimiter(',');
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
    options.left_out.insert(without.begin(), without.end());
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
        if (!run(options, totals)) {
            std::cout << "replay: " << command_of(options, shape, faults) << "\n";
            if (!is_traced && totals.failed == 1) {
                std::cout << "smallest: " << command_of(shrunk(options), shape, faults) << "\n";
            }
        }
    }
    const double real_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    std::printf(
        "%lu lives, %lu kills (%lu in a write), %lu power failures, %lu links, %lu stops, %lu drains, %lu full disks, "
        "%lu wrong R, "
        "%lu clock steps, %lu times job-priority alone, "
        "%lu lies, %lu guests (%lu jobs), %lu edits (%lu remove nodes); %lu steps; %.0f s simulated in %.1f s\n",
        totals.counts.boots, totals.counts.kills, totals.counts.torn, totals.counts.powers, totals.counts.cuts,
        totals.counts.stops, totals.counts.drains, totals.counts.fills, totals.counts.garbles,
        totals.counts.clock_steps, totals.counts.reloads, totals.counts.lies, totals.counts.guests,
        totals.counts.guest_jobs, totals.counts.edits, totals.counts.removals, totals.steps, totals.simulated_s,
        real_s);
    std::printf("total %lu/%lu cases\n", totals.seeds - totals.failed, totals.seeds);
    return totals.failed == 0 ? 0 : 1;
}
