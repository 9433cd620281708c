// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the events of a journal's backlog until it is complete. It comes job by job; they are applied in order of time.
// Must not know: what an event does.
#pragma once
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "modules/job-priority/jobs/job_event.hpp"
#include "modules/job-priority/state/state_rows.hpp"

namespace weir::priority {

/// An event that cannot be applied is skipped. \return a sentence for each of those.
std::vector<std::string> apply_each(std::span<const JobEvent> events,
                                    const std::function<void(const JobEvent&)>& apply);

class Backlog {
  public:
    /// Whether a run that freed its resources at that time is charged completely, so that its events can be dropped.
    using IsCharged = std::function<bool(const JobRun& run, Instant freed)>;

    void clear();
    /// Adds all events of one job, in their order. None is kept if a run of the job is charged.
    void add(std::vector<JobEvent> events, const IsCharged& is_charged);
    /// The backlog is complete: its events in order of time, those of one job and time as they came. O(n log n).
    std::vector<JobEvent> take();
    /// The last run of each job in the backlog.
    const std::map<FluxJobId, JobRun>& runs() const { return runs_; }

  private:
    std::vector<JobEvent> events_;
    std::map<FluxJobId, JobRun> runs_;
};

}  // namespace weir::priority
