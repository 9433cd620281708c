// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the plugin of job-priority around its table. See plugins.hpp.
#include "modules/world/manager.hpp"

namespace weir::world {

using namespace std::chrono_literals;
using jm::Job;
using jm::State;

namespace {

constexpr Duration unavail_timeout = 30s;

priority::TapQuestion question_of(const Job& job) {
    return {job.id, job.urgency, job.state == State::sched, job.priority};
}

}  // namespace

PriorityTap::PriorityTap(Manager& manager, std::int64_t nonce)
    : manager_(manager), table_(unavail_timeout), nonce_(nonce) {}

void PriorityTap::on_priority(Job& job) {
    const auto value = table_.on_enter(question_of(job), manager_.ground().now());
    arm_timer();
    if (value) {
        manager_.reprioritize(job, *value);
    }
}

void PriorityTap::arm_timer() {
    const auto deadline = table_.next_deadline();
    if (is_timer_armed_ || !deadline) {
        return;
    }
    is_timer_armed_ = true;
    manager_.later(std::max(Duration(1ms), *deadline - manager_.ground().now()), [this] {
        is_timer_armed_ = false;
        for (const auto& [id, value] : table_.release_overdue(manager_.ground().now())) {
            if (Job* job = manager_.jobs_.active(id)) {
                manager_.reprioritize(*job, value);
            }
        }
        arm_timer();
        manager_.due();
    });
}

void PriorityTap::push_one(std::uint64_t id, std::uint32_t value) {
    if (Job* job = manager_.jobs_.active(id)) {
        manager_.reprioritize(*job, value);
    } else {
        table_.forget(id);
    }
}

std::int64_t PriorityTap::update(const priority::Push& push, bool is_synced) {
    const bool is_each = push.mode == priority::Push::Mode::job;
    for (const auto& [id, value] : push.jobs) {
        if (value == priority::Push::overridden) {
            const Job* job = manager_.jobs_.active(id);
            if (job != nullptr && table_.on_urgency(id, job->urgency)) {
                push_one(id, priority::priority_lowest);
            }
            continue;
        }
        const std::optional<std::uint32_t> alone = is_each ? table_.set(id, value) : table_.set_for_all(id, value);
        if (alone) {
            push_one(id, *alone);
        }
    }
    if (is_synced) {
        table_.set_synced(manager_.ground().now());
    }
    if (push.mode == priority::Push::Mode::all && table_.is_ahead()) {
        reprioritize_all();
        table_.set_reprioritized();
    }
    return nonce_;
}

void PriorityTap::reprioritize_all() {
    std::vector<jm::JobId> ids;
    for (const auto& [id, job] : manager_.jobs_.active_jobs()) {
        ids.push_back(id);
    }
    for (const jm::JobId id : ids) {
        Job* job = manager_.jobs_.active(id);
        if (job == nullptr || !jm::is_in(job->state, jm::bit(State::priority) | jm::bit(State::sched))) {
            continue;
        }
        const auto value = table_.on_get(question_of(*job), manager_.ground().now());
        if (value && !(*value == job->priority && job->state == State::sched)) {
            manager_.reprioritize(*job, *value);
        }
    }
}

std::set<std::uint64_t> PriorityTap::withheld() const {
    const std::vector<std::uint64_t> ids = table_.withheld();
    return {ids.begin(), ids.end()};
}

}  // namespace weir::world
