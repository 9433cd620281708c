// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the job-manager's side of the scheduler protocol, as in protocols/alloc.cpp. See manager.hpp. RFC 27.
#include "broker/services/job-manager/codecs/resource_set.hpp"
#include "modules/world/manager.hpp"

namespace weir::world {

using jm::Job;
using jm::State;

void Manager::enqueue(Job& job) {
    if (job.state == State::sched && !job.alloc_bypass && !job.alloc_queued && !job.alloc_pending &&
        job.priority != jm::priority_min) {
        queue_.insert(job);
        job.alloc_queued = true;
    }
}

void Manager::dequeue(Job& job) {
    if (job.alloc_queued) {
        queue_.erase(job);
        job.alloc_queued = false;
    }
}

void Manager::cancel_alloc(Job& job, bool is_final) {
    if (!job.alloc_pending) {
        return;
    }
    send([this, id = job.id] { messages_.cancel(id); });
    if (is_final) {
        job.alloc_pending = false;
        sent_.erase(job);
    }
}

void Manager::requeue(Job& job) {
    sent_.erase(job);
    job.alloc_pending = false;
    enqueue(job);
}

/// The answer stays behind what was to be told before.
void Manager::hello() {
    RunningJobs running;
    for (const auto& [id, job] : jobs_.active_jobs()) {
        if (job->has_resources && !job->alloc_bypass) {
            running.emplace_back(id, job->r->text);
        }
    }
    send([this, running] { messages_.greet(running); });
    due();
}

void Manager::scheduler_is_ready() {
    is_online_ = true;
    due();
}

void Manager::scheduler_is_gone() {
    is_online_ = false;
    while (Job* job = sent_.first()) {
        requeue(*job);
    }
}

void Manager::allocated(jm::JobId id, const std::string& R) {
    Job* job = jobs_.active(id);
    if (job == nullptr || !job->alloc_pending) {
        send([this, id, R] { messages_.free(id, R); });  // canceled meanwhile
        due();
        return;
    }
    sent_.erase(*job);
    if (job->has_resources || !job->r->text.empty()) {
        ground().fail(process().name, "job " + std::to_string(id) + " is already allocated");
        return;
    }
    job->r = jm::allocation_of(std::move(*Json::parse(R)));
    job->alloc_pending = false;
    (void)post(*job, "alloc");
    due();
}

void Manager::denied(jm::JobId id, const std::string& text) {
    if (Job* job = jobs_.active(id); job != nullptr && job->alloc_pending) {
        job->alloc_pending = false;
        sent_.erase(*job);
        (void)raise_in(*job, "alloc", 0, text);
        due();
    }
}

void Manager::canceled(jm::JobId id) {
    Job* job = jobs_.active(id);
    if (job == nullptr || !job->alloc_pending) {
        return;
    }
    if (job->state == State::sched) {
        requeue(*job);
    } else {
        sent_.erase(*job);
        job->alloc_pending = false;
    }
    act(*job);
    due();
}

}  // namespace weir::world
