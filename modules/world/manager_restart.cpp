// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what a job-manager does with the journal that it finds, as in engine_start.cpp. See manager.hpp. RFC 21.
#include <algorithm>

#include "broker/services/job-manager/journal/restart.hpp"
#include "broker/services/job-manager/state/transition.hpp"
#include "modules/world/manager.hpp"

namespace weir::world {

using jm::Job;
using jm::State;

void Manager::start() {
    disk_.is_in_use = true;
    auto restored = jm::read_journal(disk_.journal, "jobs.journal", environments_);
    if (!restored) {
        ground().fail(process().name, "the job journal is refused: " + restored.error().message);
        return;
    }
    if (!restored->warning.empty()) {
        note(restored->warning);
    }
    disk_.cut(restored->bytes);
    writer_.go_on(restored->next_line);
    if (restored->version == 0) {
        writer_.begin(0, 0);
        (void)disk_.append(writer_.text());
        disk_.sync(disk_.journal.size());
        writer_.clear_text();
    }
    restore(std::move(*restored));
    due();
}

void Manager::restore(jm::RestoredJobs restored) {
    next_sequence_ = restored.next_sequence;
    last_us_ = restored.last_us;
    const std::vector<Job*> active = jm::take_up(jobs_, restored);
    ids_ = std::make_unique<jm::IdGenerator>(jobs_.max_id(), micros(clock_now()));
    if (last_us_ > disk_.clock.seen_us) {  // the mark is older than the journal: power was lost
        disk_.clock = {last_us_, disk_.true_time_of_last(last_us_)};
    }
    disk_.ahead[disk_.journal.size()] = clock_now() - ground().now();
    const std::int64_t seen_us = std::min(micros(clock_now()), disk_.clock.seen_us);
    standing_us_ = seen_us;
    for (Job* job : active) {
        route_tap_.on_new(*job);
    }
    const jm::RestartOrder order = jm::restart_order(active);
    for (Job* job : order.left) {
        resume(*job);
    }
    standing_us_ = 0;
    for (const jm::JobId id : order.idle) {
        Job* job = jobs_.active(id);
        if (job != nullptr && job->has_resources) {
            (void)post_at(*job, jm::down_event(seen_us, next_time_us()));
        }
    }
    for (Job* job : order.others) {
        resume(*job);
    }
    for (const jm::JobId id : order.eligible) {
        if (Job* job = jobs_.active(id); job != nullptr && jm::is_eligible(*job)) {
            resume(*job);
        }
    }
}

void Manager::resume(Job& job) {
    switch (job.state) {
        case State::priority:
            priority_tap_.on_priority(job);
            break;
        case State::sched:
            (void)post(job, "flux-restart");
            break;
        case State::run:
            if (jm::had_process(job) && job.perilog_active == 0) {
                (void)raise_in(job, "exec", 0, "lost in a broker restart");
            } else {
                act(job);
            }
            break;
        default:
            act(job);
            break;
    }
}

}  // namespace weir::world
