// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the figures of scale: messages and bytes of an ended job at each level, the root's CPU time, delays and
// memory, for a tree of instances. Must not know how the tree works.
// Usage: scale_bench [MIDDLE LEAVES_OF_EACH JOBS_OF_A_LEAF]   (100 100 1000)
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "t/bench/scale/instance_tree.hpp"

namespace {

using namespace weir;
using namespace weir::scale;

double resident_mib() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1024;
}

void tell(const InstanceTree& tree) {
    const double jobs = static_cast<double>(tree.ended());
    std::printf("%-6s %9s %11s %10s %9s %11s %12s %12s\n", "level", "instances", "reports", "bytes/job", "records",
                "us CPU/job", "factor bytes", "CPU passes");
    const char* names[] = {"root", "middle", "leaf"};
    for (std::size_t i = 0; i < tree.levels().size(); ++i) {
        const LevelLoad& level = tree.levels()[i];
        std::printf("%-6s %9lu %11lu %10.1f %9.2e %11.2f %12.3e %10.1f s\n", names[i], level.instances, level.reports,
                    static_cast<double>(level.report_bytes) / jobs, static_cast<double>(level.records),
                    (level.report_cpu_s + level.commit_cpu_s) * 1e6 / jobs, static_cast<double>(level.factor_bytes),
                    level.pass_cpu_s);
    }
    std::printf("a record is in the root's ledger after %.3f s (mean), %.3f s (most)\n",
                to_seconds(tree.report_delay_mean()), to_seconds(tree.report_delay_max()));
    std::printf("a pass of the root is in every leaf after %.3f s (most)\n", to_seconds(tree.factor_delay_max()));
    std::printf("payers whose usage at the root is not the sum of the leaves': %zu\n", tree.differences());
}

}  // namespace

int main(int argc, char** argv) {
    TreeSize size;
    if (argc == 4) {
        size.fan_out = {std::strtoul(argv[1], nullptr, 10), std::strtoul(argv[2], nullptr, 10)};
        size.jobs_per_leaf = std::strtoul(argv[3], nullptr, 10);
    }
    const auto begin = std::chrono::steady_clock::now();
    const auto seconds = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    InstanceTree tree(size);
    const double made_mib = resident_mib();
    std::printf("%zu x %zu leaves made in %.1f s, %.0f MiB\n", size.fan_out[0], size.fan_out[1], seconds(), made_mib);
    tree.run([&](std::uint64_t ended) { std::fprintf(stderr, "\r%lu jobs ended, %.0f s ", ended, seconds()); });
    std::fprintf(stderr, "\n");
    std::printf("%lu jobs in %.1f s; %.0f s simulated; %.0f MiB at most\n", tree.ended(), seconds(),
                to_seconds(tree.simulated()), resident_mib());
    tell(tree);
    return tree.differences() == 0 ? 0 : 1;
}
