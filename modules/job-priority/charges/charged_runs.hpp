// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the runs of jobs that were charged to their end, so that a replay by the journal charges none of them again.
// Must not know: the ledgers, jobs that still run.
#pragma once
#include <cstddef>
#include <functional>
#include <unordered_map>

#include "modules/job-priority/state/state_log.hpp"

namespace weir::priority {

class ChargedRuns {
  public:
    /// The number of runs that are kept; beyond twice this number the older half is dropped and the log's floor raised.
    static constexpr std::size_t kept = 20000;

    void restore(const SavedState& saved);
    /// A run that began after all these is none of them, which needs no look-up. O(1) expected.
    bool contains(const JobRun& run) const {
        return (run.alloc <= last_alloc_ && ended_.count(run) != 0) ||
               (has_any_time_ && ended_.count({run.id, {}, {}}) != 0);
    }
    /// O(1) expected, amortised.
    void add(StateLog& log, const JobRun& run, Instant ended);

  private:
    void put(const JobRun& run, Instant ended);
    void prune(StateLog& log);

    /// The runs of a job are in one place.
    struct HashId {
        std::size_t operator()(const JobRun& run) const { return std::hash<std::uint64_t>{}(run.id); }
    };
    std::unordered_map<JobRun, Instant, HashId> ended_;
    Instant last_alloc_{};       ///< of all runs that were put
    bool has_any_time_ = false;  ///< a run was put whose times are unknown
};

}  // namespace weir::priority
