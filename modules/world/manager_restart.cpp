// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what a job-manager does with the journal that it finds, as in engine_start.cpp. See manager.hpp. RFC 21.
#include <algorithm>

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
    disk_.journal.resize(restored->bytes);
    writer_.go_on(restored->next_line);
    if (restored->version == 0) {
        writer_.begin(0, 0);
    }
    restore(std::move(*restored));
    due();
}

void Manager::restore(jm::RestoredJobs restored) {
    next_sequence_ = restored.next_sequence;
    last_us_ = restored.last_us;
    jobs_.raise_max_id(restored.max_id);
    std::vector<Job*> active;
    for (auto& owned : restored.jobs) {
        if (owned->state == State::created) {
            continue;  // its submitter was never answered
        }
        Job& job = jobs_.add(std::move(owned));
        jobs_.raise_max_id(job.id);
        jobs_.count(job, State::created);
        if (job.state == State::inactive) {
            jobs_.retire(job);
        } else {
            active.push_back(&job);
        }
    }
    ids_ = std::make_unique<jm::IdGenerator>(jobs_.max_id(), micros(ground().now()));
    const std::int64_t seen_us = std::min(micros(ground().now()), std::max(disk_.seen_us, last_us_));
    standing_us_ = seen_us;
    for (Job* job : active) {
        route_tap_.on_new(*job);
    }
    const auto others = std::stable_partition(active.begin(), active.end(),
                                              [](const Job* job) { return jm::is_in(job->state, jm::mask_running); });
    std::vector<jm::JobId> idle;
    for (auto one = active.begin(); one != others; ++one) {
        if ((*one)->state == State::cleanup || !((*one)->was_started || (*one)->was_launched)) {
            idle.push_back((*one)->id);
        }
        resume(**one);
    }
    standing_us_ = 0;
    for (const jm::JobId id : idle) {
        Job* job = jobs_.active(id);
        if (job != nullptr && job->has_resources) {
            const std::int64_t now = next_time_us();
            Json context = Json::object();
            context.set("seconds", static_cast<double>(now - seen_us) / 1e6);
            (void)post_at(*job, {now, "weir.down", std::move(context)});
        }
    }
    std::for_each(others, active.end(), [this](Job* job) { resume(*job); });
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
            if ((job.was_started || job.was_launched) && job.perilog_active == 0) {
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
