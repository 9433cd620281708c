// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the figures of routing in a tree of instances: messages, bytes and CPU time of a job at each level; and the
// bounds that a test of them has: every job once, and counts. Must not know how the tree works.
// Usage: route_bench [MIDDLES LEAVES_OF_EACH JOBS]   (100 100 1000000)
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "t/bench/scale/route_tree.hpp"

namespace {

using namespace weir::scale;

/// Of a job on one wire, both ways; the jobspec, which goes down once, is 340 of these.
constexpr double bytes_max = 2000;

}  // namespace

int main(int argc, char** argv) {
    RouteSize size;
    if (argc >= 4) {
        size.middles = std::strtoul(argv[1], nullptr, 10);
        size.leaves_of_each = std::strtoul(argv[2], nullptr, 10);
        size.jobs = std::strtoul(argv[3], nullptr, 10);
    }
    const auto begin = std::chrono::steady_clock::now();
    const auto seconds = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    RouteTree tree(size);
    std::printf("%zu x %zu leaves made in %.1f s\n", size.middles, size.leaves_of_each, seconds());
    tree.run([&](std::uint64_t ended) { std::fprintf(stderr, "\r%lu jobs ended, %.0f s ", ended, seconds()); });
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto jobs = static_cast<double>(tree.ended());
    std::printf("\n%lu jobs in %.1f s; %.0f s simulated; %.0f MiB at most; %lu copies recalled\n", tree.ended(),
                seconds(), weir::to_seconds(tree.simulated()), static_cast<double>(usage.ru_maxrss) / 1024,
                tree.recalls());
    bool is_good = tree.is_empty() && tree.ended() == size.jobs;
    const char* names[] = {"root", "middle", "leaf"};
    std::printf("%-7s %12s %12s %12s %12s %12s\n", "level", "orders/job", "reports/job", "bytes down", "bytes up",
                "us CPU/job");
    for (std::size_t i = 0; i < tree.levels().size(); i++) {
        const RouteLoad& load = tree.levels()[i];
        const double down = static_cast<double>(load.order_bytes) / jobs;
        const double up = static_cast<double>(load.report_bytes) / jobs;
        std::printf("%-7s %12.2f %12.2f %12.0f %12.0f %12.1f\n", names[i], static_cast<double>(load.orders) / jobs,
                    static_cast<double>(load.reports) / jobs, down, up, load.cpu_s * 1e6 / jobs);
        is_good = is_good && down + up <= bytes_max;
    }
    return is_good ? 0 : 1;
}
