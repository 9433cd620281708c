// SPDX-License-Identifier: LGPL-3.0-only
// Replays for tests: jobs in, outcomes in the order in which they started out.
#pragma once
#include <catch2/catch.hpp>
#include <span>
#include <vector>

#include "libsched/sim/simulate.hpp"

namespace weir::test {

inline std::vector<Outcome> replay(std::span<const SimJob> jobs, std::int64_t cores, const Policy& policy,
                                   QueueOrder* order) {
    std::vector<Outcome> outcomes;
    std::size_t next = 0;
    const JobSource source = [&]() -> Result<std::optional<SimJob>> {
        return next < jobs.size() ? std::optional(jobs[next++]) : std::nullopt;
    };
    const auto done =
        simulate(cores, policy, source, [&](const Outcome& outcome) { outcomes.push_back(outcome); }, {.order = order});
    REQUIRE(done.has_value());
    return outcomes;
}

/// In the outcomes' order.
inline std::vector<SimJob> jobs_of(std::span<const Outcome> outcomes) {
    std::vector<SimJob> jobs;
    for (const Outcome& outcome : outcomes) {
        jobs.push_back(outcome.job);
    }
    return jobs;
}

/// By place in the log.
inline std::vector<Instant> starts_of(std::span<const Outcome> outcomes) {
    std::vector<Instant> starts(outcomes.size());
    for (const Outcome& outcome : outcomes) {
        starts.at(outcome.place) = outcome.start;
    }
    return starts;
}

}  // namespace weir::test
