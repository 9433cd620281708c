// SPDX-License-Identifier: LGPL-3.0-only
// Owns: small random workloads for the properties of policies and spaces: ids outside the random dimensions, sizes and
// times small, so that ties and exact fits are common.
#pragma once
#include <rapidcheck.h>

#include <vector>

#include "libsched/sim/simulate.hpp"

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
inline rc::Gen<std::vector<SimJob>> workloads(int cores) {
    const auto job = rc::gen::apply(
        [](int gap, int run, int more, int size) {
            return SimJob{0, at(gap), secs(run), secs(run + more), static_cast<std::uint32_t>(size)};
        },
        rc::gen::weightedOneOf<int>({{2, rc::gen::just(0)}, {3, rc::gen::inRange(0, 10)}}), rc::gen::inRange(0, 30),
        rc::gen::weightedOneOf<int>({{1, rc::gen::just(0)}, {2, rc::gen::inRange(0, 20)}}),
        rc::gen::inRange(1, cores + 1));
    return rc::gen::map(rc::gen::container<std::vector<SimJob>>(job), [](std::vector<SimJob> jobs) {
        jobs.resize(std::min<std::size_t>(jobs.size(), 60));
        Instant submit{};
        for (std::size_t i = 0; i < jobs.size(); i++) {
            submit += jobs[i].submit.time_since_epoch();
            jobs[i].submit = submit;
            jobs[i].number = static_cast<std::int64_t>(i) + 1;
        }
        return jobs;
    });
}

}  // namespace weir::test
