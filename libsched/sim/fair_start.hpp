// SPDX-License-Identifier: LGPL-3.0-only
// Owns: fair start times: when each job would have started under the same policy without later submissions; and how far
// the real starts are from them. Must not know shares.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "libfairshare/base/result.hpp"
#include "libsched/policy/policy.hpp"
#include "libsched/sim/sim_job.hpp"

namespace weir {

struct FairStart {
    std::uint32_t at = 0;  ///< place among the outcomes
    Instant start;         ///< without jobs submitted after it (at the same instant: after it in the log)
};

/// Whether fair_starts() holds for a policy: its decisions follow from who runs until when and who waits in which
/// order. Not for one that keeps reservations from pass to pass or looks at how long jobs have waited.
bool has_exact_fair_starts(const Policy& policy);

/// The sample of jobs: one of each of `count` equal stretches of the log, drawn by `seed`, in random order, so that the
/// first k of them are a sample as well. A fixed step could coincide with a rhythm of the log. If `count` >= `jobs`,
/// all jobs in their order.
std::vector<std::uint32_t> fair_start_places(std::size_t jobs, std::size_t count, std::uint64_t seed);

/// Called with the jobs replayed and fair starts found since the last call; false: stop, and the result is what was
/// found.
using FairStartWatch = std::function<bool(std::uint64_t jobs, std::uint64_t found)>;

/// Exact for policies accepted by has_exact_fair_starts(), with the queue in order of submission: FCFS, EASY in any
/// scan order, replanning conservative. The fair start of a job that waited comes from a replay of the jobs that run
/// and wait at its submission. The fair start of a job that did not wait is its start. The result is in the order of
/// `places`, and shorter if `watch` (may be empty) stopped it. REQUIRES: `outcomes` are in order of submission and what
/// `policy` did with them on `machine_cores`; limits of a microsecond or less do not occur. Error: as simulate(). O(sum
/// over places of a replay of the jobs in the system), for places that do not ascend O(n) more each.
Result<std::vector<FairStart>> fair_starts(std::span<const Outcome> outcomes, std::int64_t machine_cores,
                                           const Policy& policy, std::span<const std::uint32_t> places,
                                           const FairStartWatch& watch = {});

/// About how many jobs fair_starts() replays for these places. O(n log n).
std::uint64_t fair_start_work(std::span<const Outcome> outcomes, std::span<const std::uint32_t> places);

/// Replays a log and returns the start of its last job; nothing if it was stopped.
using LastStart = std::function<Result<std::optional<Instant>>(std::span<const SimJob>)>;
/// For any policy, also with priorities that change over time: replays the log from the beginning up to each place. The
/// result is in the order of `places`, and shorter if `replay` was stopped. O(sum of places).
Result<std::vector<FairStart>> fair_starts_replayed(std::span<const Outcome> outcomes,
                                                    std::span<const std::uint32_t> places, const LastStart& replay);

/// The 95 % confidence interval of a figure for all jobs, from a sample. low == high: all jobs were measured.
struct Interval {
    double low = 0;
    double high = 0;
};

struct FairStartMetrics {
    std::uint64_t jobs = 0;    ///< measured: all, or the sample
    std::uint64_t missed = 0;  ///< started later than their fair start
    Interval missed_interval;  ///< of missed_part(): Wilson's
    double miss_mean_s = 0;    ///< max(0, start - fair start), over all measured jobs
    Interval miss_mean_interval_s;
    double miss_mean_of_missed_s = 0;
    Duration miss_max{};
    double missed_part() const { return jobs > 0 ? static_cast<double>(missed) / static_cast<double>(jobs) : 0; }
};
/// `fair`: of the measured jobs, all or a sample. Intervals are those of a sample without replacement from `outcomes`.
/// Source: Sabin and Sadayappan, JSSPP 2005; Wilson 1927.
FairStartMetrics fair_start_metrics(std::span<const Outcome> outcomes, std::span<const FairStart> fair);

}  // namespace weir
