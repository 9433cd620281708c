// SPDX-License-Identifier: LGPL-3.0-only
// Owns: JobQueue.
// Must not know: states, flux_t.
#include "broker/services/job-manager/tables/job_queue.hpp"

namespace weir::broker::jobs {

void JobQueue::insert(Job& job) {
    job.queued_priority = job.priority;
    const bool is_new = jobs_.insert(Entry{{job.queued_priority, job.id}, &job}).second;
    WEIR_CHECK(is_new);
}

void JobQueue::erase(Job& job) {
    const std::size_t gone = jobs_.erase(Entry{{job.queued_priority, job.id}, &job});
    WEIR_CHECK(gone == 1);
}

void JobQueue::reorder(Job& job) {
    if (job.queued_priority == job.priority) {
        return;
    }
    erase(job);
    insert(job);
}

}  // namespace weir::broker::jobs
