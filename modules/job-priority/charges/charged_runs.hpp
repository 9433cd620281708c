// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the runs of jobs that were charged to their end, so that a replay by the journal charges none of them again.
// Must not know: the ledgers, jobs that still run.
#pragma once
#include <cstddef>
#include <map>

#include "modules/job-priority/state/state_log.hpp"

namespace weir::priority {

class ChargedRuns {
  public:
    /// The number of runs that are kept; beyond twice this number the older half is dropped and the log's floor raised.
    static constexpr std::size_t kept = 20000;

    void restore(const SavedState& saved) { ended_ = saved.charged; }
    bool contains(const JobRun& run) const { return ended_.count(run) != 0 || ended_.count({run.id, {}, {}}) != 0; }
    /// O(log runs) amortised.
    void add(StateLog& log, const JobRun& run, Instant ended);

  private:
    void prune(StateLog& log);

    std::map<JobRun, Instant> ended_;
};

}  // namespace weir::priority
