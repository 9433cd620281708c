// SPDX-License-Identifier: LGPL-3.0-only
// Owns: HandDown. See hand_down.hpp.
#include "modules/job-route/hand_down.hpp"

#include <algorithm>
#include <iterator>

#include "modules/job-route/hand_down_pass.hpp"

namespace weir::route {

// ---- facts ----

void HandDown::file(JobId id, const Job& job, bool is_in) {
    const Place place = place_of(id, job);
    const auto change = [&](Classes& classes) {
        const auto found = classes.try_emplace(class_of(job)).first;
        if (is_in) {
            found->second.insert(place);
        } else if (found->second.erase(place); found->second.empty()) {
            classes.erase(found);
        }
    };
    switch (job.standing) {
        case Standing::absent:
            break;
        case Standing::waits:
            change(waiting_);
            break;
        case Standing::asked:
        case Standing::ahead:
            change(child_of(job.child).waiting);
            break;
        case Standing::busy:
            break;
    }
    if (job.standing == Standing::asked || job.standing == Standing::busy) {
        Child& child = child_of(job.child);
        LimitCounts& counts = job.standing == Standing::asked ? child.asked : child.busy;
        const std::int64_t cores = job.held > 0 ? job.held : job.cores;
        if (is_in) {
            counts.add(job.user, cores);
        } else {
            counts.remove(job.user, cores);
        }
    }
    if (const auto child = children_.find(job.child); child != children_.end()) {
        refresh(job.child, child->second);
        erase_if_empty(job.child);
    }
}

HandDown::Rooms::iterator HandDown::room_of(JobId child) {
    return std::lower_bound(rooms_.begin(), rooms_.end(), child,
                            [](const Room& room, JobId id) { return room.id < id; });
}

HandDown::Child& HandDown::child_of(JobId id) {
    const auto [child, is_new] = children_.try_emplace(id);
    if (is_new) {
        Room room;
        room.id = id;
        room.child = &child->second;
        rooms_.insert(room_of(id), room);
        reaches_.clear();
    }
    return child->second;
}

void HandDown::refresh(JobId id, const Child& child) {
    const std::int64_t held = child.busy.total().cores + child.facts.own_cores;
    Room& room = *room_of(id);
    room.cores = child.facts.cores;
    room.free = child.facts.is_open ? free_cores_of(child) : 0;
    room.load = std::clamp<std::int64_t>(held, 0, load_max);
    room.preference = child.facts.preference;
    room.has_waiting = !child.waiting.empty();
    room.has_limits = !child.facts.limits.is_empty();
}

/// A child that has ended is kept until its jobs are known to have left it.
void HandDown::erase_if_empty(JobId id) {
    const auto child = children_.find(id);
    if (!child->second.is_known && is_empty(child->second)) {
        rooms_.erase(room_of(id));
        children_.erase(child);
        reaches_.clear();
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
    stuck_at_.erase({stuck_at(old), id});
    if (job.standing == Standing::absent) {
        jobs_.erase(id);
        return;
    }
    file(id, job, true);
    const bool has_stayed = old.job.child == job.child;
    const Record record{job, has_stayed ? old.since : now_, old.patience,
                        has_stayed && old.job.is_there ? old.arrived : now_, has_stayed && old.is_considered};
    jobs_.insert_or_assign(id, record);
    if (is_in_child(job) && stuck_at(record) > now_) {
        stuck_at_.emplace(stuck_at(record), id);
    }
}

void HandDown::set_considered(JobId better) {
    if (const auto found = jobs_.find(better); found != jobs_.end()) {
        found->second.is_considered = true;
    }
}

void HandDown::set_child(JobId id, const ChildFacts& facts) {
    Child& child = child_of(id);
    if (child.is_known && child.facts == facts) {
        return;
    }
    is_due_ = true;
    child.facts.own_cores = facts.own_cores;  // it changes often, and no class of jobs has other children for it
    if (child.facts != facts) {
        child.facts = facts;
        reaches_.clear();
    }
    child.is_known = true;
    refresh(id, child);
}

void HandDown::remove_child(JobId id) {
    const auto child = children_.find(id);
    if (child == children_.end()) {
        return;
    }
    child->second.facts = {};
    child->second.is_known = false;
    Room& room = *room_of(id);
    room.growth = 1;
    room.is_short = false;
    reaches_.clear();
    refresh(id, child->second);
    erase_if_empty(id);
}

void HandDown::tick() {
    ++now_;
    while (!stuck_at_.empty() && stuck_at_.begin()->first <= now_) {
        stuck_at_.erase(stuck_at_.begin());
        is_due_ = true;
    }
    for (Room& room : rooms_) {
        if (room.is_short && room.growth < depth_growth_max) {
            room.growth *= 2;
            is_due_ = true;
        }
    }
}

std::optional<std::int64_t> HandDown::next_change() const {
    const bool is_growing = std::any_of(
        rooms_.begin(), rooms_.end(), [](const Room& room) { return room.is_short && room.growth < depth_growth_max; });
    if (is_growing) {
        return 1;
    }
    return stuck_at_.empty() ? std::nullopt : std::optional(std::max<std::int64_t>(1, stuck_at_.begin()->first - now_));
}

bool HandDown::is_awaited(const std::function<bool(const JobClass& jobs)>& fits) const {
    if (std::any_of(waiting_.begin(), waiting_.end(), [&](const auto& entry) { return fits(entry.first); })) {
        return true;
    }
    const auto is_late = [this](const Place& place) { return is_stuck(jobs_.at(place.id)); };
    for (const auto& [id, child] : children_) {
        std::int64_t free = free_cores_of(child);
        for (const auto& [jobs, places] : child.waiting) {
            if (jobs.is_held_back || !fits(jobs)) {
                continue;
            }
            free -= std::min(std::ssize(places), cores_max / jobs.cores + 1) * jobs.cores;
            if (free < 0 || std::any_of(places.begin(), places.end(), is_late)) {
                return true;
            }
        }
    }
    return false;
}

// ---- plans ----

const HandDown::Reach& HandDown::reach_of(const JobClass& jobs, const Rules& rules) {
    const auto [found, is_new] = reaches_.try_emplace(jobs);
    Reach& reach = found->second;
    if (!is_new) {
        return reach;
    }
    const Takers takers = rules.takers(jobs);
    reach.is_bound = !takers.is_one;
    for (std::size_t i = 0; i < rooms_.size(); i++) {
        const ChildFacts& facts = rooms_[i].child->facts;
        if (!facts.is_open || !rules.takes(jobs.kind, facts.rank) || jobs.is_unfit_for(rooms_[i].id)) {
            continue;
        }
        if (has(facts.serves, jobs.queue)) {
            if (facts.cores == 0 || jobs.cores <= facts.cores || jobs.cores > takers.cores_max) {
                reach.children.push_back(i);
            }
        } else if (has(facts.overflow, jobs.queue) && jobs.cores <= facts.cores) {
            reach.lenders.push_back(i);
        }
    }
    return reach;
}

std::map<JobId, HandDown::Objection> HandDown::objections(const std::vector<JobId>& ids, const Rules& rules) {
    std::set<JobId> in_children;
    std::copy_if(ids.begin(), ids.end(), std::inserter(in_children, in_children.end()), [this](JobId id) {
        const auto found = jobs_.find(id);
        return found != jobs_.end() && is_in_child(found->second.job);
    });
    return in_children.empty() ? std::map<JobId, Objection>() : Pass(*this, rules).objections(std::move(in_children));
}

std::optional<HandDown::LimitState> HandDown::limit_state(const std::string& partition, std::uint32_t user,
                                                          std::int64_t cores) const {
    LimitCounts there, busy;
    PartitionLimits limits;
    for (const auto& [id, child] : children_) {
        if (child.facts.partition != partition) {
            continue;
        }
        limits = child.facts.limits;
        busy.add(child.busy);
        for (const auto& [jobs, places] : child.waiting) {
            for (std::size_t i = 0; i < places.size(); i++) {
                there.add(jobs.user, most_cores(jobs.cores, jobs.whole_nodes, child.facts.node_cores));
            }
        }
    }
    there.add(busy);
    const auto hit = there.hit(limits, user, cores);
    return hit ? std::optional(LimitState{*hit, busy.count(hit->kind, user)}) : std::nullopt;
}

std::vector<HandDown::Move> HandDown::plan(const Rules& rules) {
    is_due_ = false;
    Pass pass(*this, rules);
    std::vector<Move> moves = pass.run();
    for (const Move& move : moves) {
        Record& record = jobs_.at(move.id);
        if (move.is_stuck && record.patience < record.patience_max()) {
            record.patience *= 2;
        }
    }
    pass.note_shortage(rooms_);
    return moves;
}

}  // namespace weir::route
