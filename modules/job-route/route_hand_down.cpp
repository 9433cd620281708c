// SPDX-License-Identifier: LGPL-3.0-only
// Owns: RouteTable's part in handing jobs down: what HandDown is told of jobs and children, and its moves.
#include <algorithm>
#include <limits>

#include "modules/job-route/route_table.hpp"

namespace weir::route {

/// One whose user holds it stays where it is and takes no place there.
HandDown::Job RouteTable::standing_of(const Entry& entry) const {
    using Standing = HandDown::Standing;
    const Job& job = entry.second;
    HandDown::Job facts;
    if (job.routed() == nullptr) {
        return facts;
    }
    facts.child = job.holder();
    facts.priority = job.priority;
    facts.cores = job.facts.cores;
    facts.queue = job.facts.queue;
    const bool may_start = job.urgency != 0 && !is_ending(job.progress);
    if (const Given* given = job.given(); given != nullptr && job.routed()->asked.has(AskedOnce::Step::clean)) {
        return {};  // its child has its cores back
    } else if (given != nullptr) {
        facts.standing = has_alloc(job.progress) || given->may_have_alloc ? Standing::busy
                         : may_start                                      ? Standing::ahead
                                                                          : Standing::absent;
        facts.is_there = given->local.value != 0;
    } else if (job.is_unplaced()) {
        const bool is_in_sched = job.progress == Progress::sched && job.priority > 0;
        facts.standing = may_start && is_in_sched ? Standing::waits : Standing::absent;
    } else {
        facts.standing = may_start ? Standing::asked : Standing::absent;
    }
    return facts.standing != Standing::absent ? facts : HandDown::Job{};
}

void RouteTable::refile(const Entry& entry) {
    hand_down_.set(entry.first, standing_of(entry));
}

void RouteTable::refile_child(JobId id, const Child& child) {
    HandDown::ChildFacts facts;
    facts.serves = child.serves;
    facts.cores = child.cores;
    facts.own_cores = child.own_cores;
    facts.is_open = child.is_attached && drained_.count(id) == 0;
    if (const auto lends = overflow_.find(id); lends != overflow_.end()) {
        facts.overflow = lends->second;
    }
    hand_down_.set_child(id, facts);
}

void RouteTable::set_overflow(std::map<JobId, std::vector<std::string>> overflow) {
    if (std::exchange(overflow_, std::move(overflow)) != overflow_) {
        for (const auto& [id, child] : children_) {
            refile_child(id, child);
        }
    }
}

bool RouteTable::is_lent(JobId child, const std::string& queue) const {
    const auto lends = overflow_.find(child);
    return lends != overflow_.end() &&
           std::find(lends->second.begin(), lends->second.end(), queue) != lends->second.end();
}

/// A partition that has not attached, or not yet, may be any size.
std::int64_t RouteTable::ceiling(const std::string& queue) const {
    const auto expected = expected_.find(queue);
    std::int64_t cores = expected != expected_.end() ? expected->second : 0;
    for (const JobId id : hosts_) {
        const auto child = children_.find(id);
        const auto& serves = child != children_.end() ? child->second.serves : jobs_.at(id).facts.serves;
        if (std::find(serves.begin(), serves.end(), queue) == serves.end() && !is_lent(id, queue)) {
            continue;
        }
        if (child == children_.end()) {
            return std::numeric_limits<std::int64_t>::max();
        }
        cores = std::max(cores, child->second.cores);
    }
    return cores;
}

HandDown::Rules RouteTable::rules() const {
    return {[this](JobId job, JobId id) {
                const auto child = children_.find(id);
                return child != children_.end() && can_serve(id, child->second, *jobs_.find(job));
            },
            [this](const std::string& queue) { return ceiling(queue); }};
}

void RouteTable::hand_down() {
    for (const HandDown::Move& move : hand_down_.plan(rules())) {
        Entry& entry = *jobs_.find(move.id);
        if (move.from.value != 0) {
            recall(entry);
        }
        if (move.to.value != 0) {
            give(entry, move.to);
        }
    }
}

ParentActions RouteTable::take() {
    if (is_synced_ && hand_down_.is_due()) {
        hand_down();
    }
    return std::exchange(actions_, {});
}

}  // namespace weir::route
