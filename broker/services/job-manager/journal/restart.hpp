// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the effect of a restart on the jobs of the journal: which are restored, in which order they continue, and for
// which jobs the time without a broker is not charged. Must not know: flux_t, plugins, how a job continues. RFC 21.
#pragma once
#include <cstdint>
#include <vector>

#include "broker/services/job-manager/journal/journal.hpp"
#include "broker/services/job-manager/tables/job_table.hpp"

namespace weir::broker::jobs {

/// Moves the jobs into the empty table, the inactive ones as such. A job whose submitter got no answer is left out.
/// \return the active ones, in the journal's order
std::vector<Job*> take_up(JobTable& jobs, RestoredJobs& restored);

/// The active jobs in the order in which they continue: first those with resources, then all others.
struct RestartOrder {
    std::vector<Job*> left;       ///< in RUN or CLEANUP
    std::vector<JobId> idle;      ///< of those: they had no process that could use the resources until now
    std::vector<Job*> others;     ///< in DEPEND: to go on when the events of the time without a broker are posted
    std::vector<JobId> eligible;  ///< in PRIORITY or SCHED: to go on after those, some at a time
};
RestartOrder restart_order(const std::vector<Job*>& active);

/// Whether the job has no dependency left and no resources yet.
inline bool is_eligible(const Job& job) {
    return is_in(job.state, bit(State::priority) | bit(State::sched));
}

/// Whether the old broker had asked for the job's processes.
inline bool had_process(const Job& job) {
    return job.was_started || job.was_launched;
}

/// `weir.down`: the resources that an idle job held since the old broker was last seen are not charged.
Event down_event(std::int64_t seen_us, std::int64_t now_us);

}  // namespace weir::broker::jobs
