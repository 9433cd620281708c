// SPDX-License-Identifier: LGPL-3.0-only
// Owns: fair start times: when each job would have started, under the same policy, had nobody come after it; and how
// far real starts missed them. Must not know shares.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "libfairshare/base/result.hpp"
#include "libsched/policy/policy.hpp"
#include "libsched/sim/sim_job.hpp"

namespace weir {

struct FairStart {
    std::uint32_t at = 0;  ///< place among the outcomes
    Instant start;         ///< had no job been submitted after it (at the same instant: none behind it in the log)
};

/// Whether fair_starts() holds for a policy: its decisions follow from who runs until when and who waits in which
/// order. Not for one that keeps reservations from pass to pass or looks at how long jobs have waited.
bool has_exact_fair_starts(const Policy& policy);

/// Exact, for every job that waited (who did not wait missed nothing), for a policy whose decisions follow from who
/// runs until when and who waits in which order, with the queue in order of submission: FCFS, EASY in any scan order,
/// replanning conservative. Each job's fair start is a replay of those who run and wait at its submission.
/// REQUIRES: `outcomes` are in order of submission and what `policy` did with them on `machine_cores`.
/// Error: as simulate(). O(sum over jobs of a replay of the jobs in the system).
Result<std::vector<FairStart>> fair_starts(std::span<const Outcome> outcomes, std::int64_t machine_cores,
                                           const Policy& policy);

/// Replays a log and returns the start of its last job.
using LastStart = std::function<Result<Instant>(std::span<const SimJob>)>;
/// For any policy, priorities that change over time included: every `every`th job alone, each by replaying the log up
/// to it from the beginning. The job at place every / 2 is the first. O(n / every) replays of n / 2 jobs in the mean.
Result<std::vector<FairStart>> fair_starts_sampled(std::span<const Outcome> outcomes, std::uint32_t every,
                                                   const LastStart& replay);

struct FairStartMetrics {
    std::uint64_t jobs = 0;    ///< looked at: all, or the sample
    std::uint64_t missed = 0;  ///< started later than their fair start
    double miss_mean_s = 0;    ///< max(0, start - fair start), over all jobs looked at
    double miss_mean_of_missed_s = 0;
    Duration miss_max{};
    double missed_part() const { return jobs > 0 ? static_cast<double>(missed) / static_cast<double>(jobs) : 0; }
};
/// `jobs`: how many were looked at, those without a FairStart missed nothing. Source: Sabin and Sadayappan, JSSPP 2005.
FairStartMetrics fair_start_metrics(std::span<const Outcome> outcomes, const std::vector<FairStart>& fair,
                                    std::uint64_t jobs);

}  // namespace weir
