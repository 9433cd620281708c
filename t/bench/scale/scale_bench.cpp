// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the figures of scale for a tree of instances: messages and bytes of an ended job at each level, CPU time,
// delays and memory; and the bounds that a test of them has: counts and bytes, no times. Must not know how the tree
// works. Usage: scale_bench [MIDDLE LEAVES_OF_EACH JOBS_OF_A_LEAF [LONGEST_JOB_S [direct|routing]]]   (100 100 1000 10)
// With `direct` each leaf has its jobs from the beginning, else they are submitted at the root and routed. With
// `routing` they are routed, and no usage is charged.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "t/bench/scale/instance_tree.hpp"

namespace {

using namespace weir;
using namespace weir::scale;

double resident_mib() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1024;
}

constexpr double report_bytes_max = 100;  ///< of an ended job, on each wire
/// Of a routed job on one wire, both ways; the jobspec, which goes down once, is 340 of these.
constexpr double route_bytes_max = 2000;
/// From a change of policy, or a pass, at the root to the last leaf, in simulated time.
constexpr Duration policy_delay_limit = std::chrono::seconds(1);

double per_job(double sum, const InstanceTree& tree) {
    return sum / static_cast<double>(tree.ended());
}

void tell_levels(const InstanceTree& tree) {
    std::printf("%-6s %9s %10s %9s %9s %11s %11s %11s %12s %12s\n", "level", "instances", "reports", "jobs/rep",
                "bytes/job", "us CPU/job", "factor msgs", "factor B", "policy bytes", "us/policy");
    const char* names[] = {"root", "middle", "leaf"};
    const std::vector<LevelLoad> levels = tree.levels();
    for (std::size_t i = 0; i < levels.size(); ++i) {
        const LevelLoad& level = levels[i];
        const double ended =
            level.reports == 0 ? 0 : static_cast<double>(tree.ended()) / static_cast<double>(level.reports);
        std::printf("%-6s %9lu %10lu %9.1f %9.1f %11.2f %11lu %11.3e %12.3e %12.0f\n", names[i], level.instances,
                    level.reports, ended, per_job(static_cast<double>(level.report_bytes), tree),
                    per_job((level.report_cpu_s + level.commit_cpu_s) * 1e6, tree), level.factor_messages,
                    static_cast<double>(level.factor_bytes), static_cast<double>(level.policy_bytes),
                    level.policy_cpu_s * 1e6 / static_cast<double>(level.instances));
    }
}

/// Messages are those of the level with the one above.
void tell_routing(const InstanceTree& tree) {
    std::printf("%-6s %10s %10s %10s %10s %12s %12s\n", "level", "orders/job", "reports/j", "bytes down", "bytes up",
                "us CPU/job", "us priority");
    const char* names[] = {"root", "middle", "leaf"};
    const std::vector<LevelLoad> levels = tree.levels();
    for (std::size_t i = 0; i < levels.size(); ++i) {
        const LevelLoad above = i > 0 ? levels[i - 1] : LevelLoad{};
        const LevelLoad& level = levels[i];
        std::printf("%-6s %10.2f %10.2f %10.0f %10.0f %12.1f %12.1f\n", names[i],
                    per_job(static_cast<double>(level.orders), tree),
                    per_job(static_cast<double>(above.route_reports), tree),
                    per_job(static_cast<double>(level.order_bytes), tree),
                    per_job(static_cast<double>(above.route_report_bytes), tree),
                    per_job(level.route_time.cpu_s * 1e6, tree), per_job(level.rank_time.cpu_s * 1e6, tree));
    }
    std::printf("%lu copies recalled; %zu jobs left\n", tree.recalls(), tree.jobs_left());
}

void tell(const InstanceTree& tree, bool is_routed) {
    tell_levels(tree);
    if (is_routed) {
        tell_routing(tree);
    }
    std::printf("a record is in the root's ledger after %.3f s (mean), %.3f s (most)\n",
                to_seconds(tree.report_delay_mean()), to_seconds(tree.report_delay_max()));
    std::printf("a pass of the root is in every leaf after %.3f s (most)\n", to_seconds(tree.factor_delay_max()));
    std::printf("a policy of the root is in force in every leaf after %.3f s; leaves without it: %zu\n",
                to_seconds(tree.policy_delay_max()), tree.leaves_behind());
    std::printf("payers whose usage at the root is not the sum of the leaves': %zu\n", tree.differences());
}

/// One line for curves.py: leaves, jobs, simulated seconds, then of root, middle and leaves: instances, reports, bytes,
/// CPU seconds of reports.
void tell_for_curves(const InstanceTree& tree, double mib_per_instance) {
    std::printf("curve %lu %lu %.1f %.4f", tree.levels().back().instances, tree.ended(), to_seconds(tree.simulated()),
                mib_per_instance);
    for (const LevelLoad& level : tree.levels()) {
        std::printf(" %lu %lu %lu %.4f", level.instances, level.reports, level.report_bytes,
                    level.report_cpu_s + level.commit_cpu_s);
    }
    std::printf("\n");
}

/// What must hold whatever the machine: nothing is lost or doubled, policy is everywhere within a second, reports are
/// short where jobs share them.
bool is_good(const InstanceTree& tree) {
    bool good = tree.differences() == 0 && tree.leaves_behind() == 0 && tree.jobs_left() == 0 &&
                std::max(tree.policy_delay_max(), tree.factor_delay_max()) <= policy_delay_limit;
    for (const LevelLoad& level : tree.levels()) {
        const auto routed = static_cast<double>(level.route_report_bytes + level.order_bytes);
        if (per_job(routed, tree) > route_bytes_max) {
            std::fprintf(stderr, "a routed job takes %.0f bytes; at most %.0f\n", per_job(routed, tree),
                         route_bytes_max);
            good = false;
        }
        const bool are_shared = level.reports > 0 && tree.ended() >= 4 * level.reports;
        const double bytes = per_job(static_cast<double>(level.report_bytes), tree);
        if (are_shared && bytes > report_bytes_max) {
            std::fprintf(stderr, "an ended job takes %.1f bytes on a wire; at most %.0f\n", bytes, report_bytes_max);
            good = false;
        }
    }
    return good;
}

}  // namespace

int main(int argc, char** argv) {
    TreeSize size;
    if (argc >= 4) {
        size.fan_out = {std::strtoul(argv[1], nullptr, 10), std::strtoul(argv[2], nullptr, 10)};
        size.jobs_per_leaf = std::strtoul(argv[3], nullptr, 10);
    }
    if (argc >= 5) {
        size.run_time_max = duration_from_seconds(std::strtod(argv[4], nullptr));
    }
    const std::string_view what = argc >= 6 ? argv[5] : "";
    size.is_routed = what != "direct";
    size.is_charged = what != "routing";
    const auto begin = std::chrono::steady_clock::now();
    const auto seconds = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    const double before_mib = resident_mib();
    InstanceTree tree(size);
    const double made_mib = resident_mib();
    std::size_t instances = 0;
    for (const LevelLoad& level : tree.levels()) {
        instances += level.instances;
    }
    std::printf("%zu x %zu leaves made in %.1f s, %.0f MiB\n", size.fan_out[0], size.fan_out[1], seconds(), made_mib);
    tree.run([&](std::uint64_t ended) { std::fprintf(stderr, "\r%lu jobs ended, %.0f s ", ended, seconds()); });
    std::fprintf(stderr, "\n");
    std::printf("%lu jobs in %.1f s; %.0f s simulated; %.0f MiB at most\n", tree.ended(), seconds(),
                to_seconds(tree.simulated()), resident_mib());
    const double each_mib = (resident_mib() - before_mib) / static_cast<double>(instances);
    std::printf("an instance takes %.3f MiB at most\n", each_mib);
    tell(tree, size.is_routed);
    tell_for_curves(tree, each_mib);
    return is_good(tree) ? 0 : 1;
}
