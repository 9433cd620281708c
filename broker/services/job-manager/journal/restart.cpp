// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see restart.hpp.
#include "broker/services/job-manager/journal/restart.hpp"

#include <utility>

#include "broker/services/job-manager/state/transition.hpp"

namespace weir::broker::jobs {

std::vector<Job*> take_up(JobTable& jobs, RestoredJobs& restored) {
    jobs.raise_max_id(restored.max_id);
    std::vector<Job*> active;
    for (auto& owned : restored.jobs) {
        if (owned->state == State::created) {
            continue;  // its submitter got no answer
        }
        Job& job = jobs.add(std::move(owned));
        jobs.raise_max_id(job.id);
        jobs.count(job, State::created);
        if (job.state == State::inactive) {
            jobs.retire(job);
        } else {
            active.push_back(&job);
        }
    }
    return active;
}

RestartOrder restart_order(const std::vector<Job*>& active) {
    RestartOrder order;
    for (Job* job : active) {
        if (is_eligible(*job)) {
            order.eligible.push_back(job->id);
            continue;
        }
        if (!is_in(job->state, mask_running)) {
            order.others.push_back(job);
            continue;
        }
        order.left.push_back(job);
        if (job->state == State::cleanup || !had_process(*job)) {
            order.idle.push_back(job->id);
        }
    }
    return order;
}

Event down_event(std::int64_t seen_us, std::int64_t now_us) {
    Json context = Json::object();
    context.set("seconds", static_cast<double>(now_us - seen_us) / 1e6);
    return Event{now_us, "weir.down", std::move(context)};
}

}  // namespace weir::broker::jobs
