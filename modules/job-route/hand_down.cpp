// SPDX-License-Identifier: LGPL-3.0-only
// Owns: HandDown. See hand_down.hpp.
#include "modules/job-route/hand_down.hpp"

#include <algorithm>

#include "modules/job-route/hand_down_pass.hpp"

namespace weir::route {

// ---- facts ----

void HandDown::file(JobId id, const Job& job, bool is_in) {
    const Place place{job.priority, id};
    const auto change = [&](Places& places) {
        if (is_in) {
            places.insert(place);
        } else {
            places.erase(place);
        }
    };
    switch (job.standing) {
        case Standing::absent:
            break;
        case Standing::waits: {
            auto& classes = waiting_[job.queue];
            const Size size{job.kind, job.cores};
            change(classes[size]);
            if (classes[size].empty()) {
                classes.erase(size);
            }
            if (classes.empty()) {
                waiting_.erase(job.queue);
            }
            break;
        }
        case Standing::asked:
        case Standing::ahead:
            change(children_[job.child].waiting);
            break;
        case Standing::busy:
            children_[job.child].busy_cores += is_in ? job.cores : -job.cores;
            break;
    }
    const auto child = children_.find(job.child);
    if (child != children_.end() && !child->second.is_known && child->second.waiting.empty() &&
        child->second.busy_cores == 0) {
        children_.erase(child);
    }
}

void HandDown::set(JobId id, const Job& job) {
    const auto found = jobs_.find(id);
    const Record old = found != jobs_.end() ? found->second : Record{};
    if (old.job == job) {
        return;
    }
    is_due_ = true;
    file(id, old.job, false);
    if (job.standing == Standing::absent) {
        jobs_.erase(id);
        return;
    }
    file(id, job, true);
    jobs_.insert_or_assign(id, Record{job, old.job.child == job.child ? old.ticks : 0, old.patience});
}

void HandDown::set_child(JobId id, const ChildFacts& facts) {
    Child& child = children_[id];
    is_due_ = is_due_ || !child.is_known || child.facts != facts;
    child.facts = facts;
    child.is_known = true;
}

void HandDown::remove_child(JobId id) {
    const auto child = children_.find(id);
    if (child == children_.end()) {
        return;
    }
    child->second.facts = {};
    child->second.is_known = false;
    if (child->second.waiting.empty() && child->second.busy_cores == 0) {
        children_.erase(child);
    }
}

void HandDown::tick() {
    for (auto& [id, child] : children_) {
        for (const Place& place : child.waiting) {
            Record& record = jobs_.at(place.id);
            is_due_ = ++record.ticks == record.patience || is_due_;
        }
    }
}

// ---- plans ----

bool HandDown::is_passed_over(JobId id, const Rules& rules) const {
    return jobs_.count(id) > 0 && Pass(*this, rules).is_passed_over(id);
}

std::vector<HandDown::Move> HandDown::plan(const Rules& rules) {
    is_due_ = false;
    std::vector<Move> moves = Pass(*this, rules).run();
    for (const Move& move : moves) {
        std::int64_t& patience = jobs_.at(move.id).patience;
        patience = move.is_stuck ? std::min(2 * patience, stuck_after_max) : patience;
    }
    return moves;
}

}  // namespace weir::route
