// SPDX-License-Identifier: LGPL-3.0-only
// Owns: small random workloads for the properties of policies and spaces: ids outside the random dimensions, sizes and
// times small, so that ties and exact fits are common.
#pragma once
#include <vector>

#include "libsched/sim/simulate.hpp"
#include "t/unit/draws.hpp"

namespace weir::test {

inline Instant at(std::int64_t seconds) {
    return Instant{Duration{seconds * 1'000'000}};
}
inline Duration secs(std::int64_t seconds) {
    return Duration{seconds * 1'000'000};
}

inline PendingJob waiting(std::uint64_t id, std::uint32_t cores, std::int64_t limit, std::uint32_t priority = 1,
                          std::int64_t submit = 0) {
    return {{priority, at(submit), JobId{id}}, {0, cores, 1, false}, secs(limit)};
}

inline ResourceSet machine(std::uint32_t nodes, std::uint32_t cores) {
    ResourceSet set;
    for (std::uint32_t rank = 0; rank < nodes; rank++) {
        set.nodes.push_back({rank, IdSet::range(0, cores - 1), {}});
    }
    return set;
}

/// Up to 60 jobs of 1..cores cores within 100 seconds; limits are at least the run times.
inline std::vector<SimJob> any_workload(int cores) {
    std::vector<SimJob> jobs(std::min<std::size_t>(draw::length(), 60));
    std::int64_t submit = 0;
    for (std::size_t i = 0; i < jobs.size(); i++) {
        submit += draw::in_range(0, 5) < 2 ? 0 : draw::in_range(0, 10);
        const int run = draw::in_range(0, 30);
        const int more = draw::in_range(0, 3) == 0 ? 0 : draw::in_range(0, 20);
        const auto size = static_cast<std::uint32_t>(draw::in_range(1, cores + 1));
        jobs[i] = SimJob{static_cast<std::int64_t>(i) + 1, at(submit), secs(run), secs(run + more), size};
    }
    return jobs;
}

}  // namespace weir::test
