// SPDX-License-Identifier: LGPL-3.0-only
// Owns: HandDown. See hand_down.hpp.
#include "modules/job-route/hand_down.hpp"

#include <algorithm>
#include <utility>

#include "modules/job-route/hand_down_pass.hpp"

namespace weir::route {

// ---- facts ----

/// Among those who wait, here or with a child.
void HandDown::file_place(JobId id, const Record& record, bool is_in) {
    const Job& job = record.job;
    if (job.standing != Standing::waits && !is_in_child(job)) {
        return;
    }
    Child* child = is_in_child(job) ? &child_of(job.child) : nullptr;
    Classes& classes = child != nullptr ? child->waiting : waiting_;
    const auto found = classes.try_emplace(class_of(job)).first;
    if (is_in) {
        found->second.insert(place_of(id, record));
    } else if (found->second.erase(place_of(id, record)); found->second.empty()) {
        classes.erase(found);
    }
    if (child != nullptr) {
        child->waiting_cores += is_in ? job.cores : -job.cores;
        in_children_ += is_in ? 1 : -1;
    }
}

/// Among those whom no plan can move.
void HandDown::file_cores(const Job& job, bool is_in) {
    if (job.standing != Standing::asked && job.standing != Standing::busy) {
        return;
    }
    Child& child = child_of(job.child);
    LimitCounts& counts = job.standing == Standing::asked ? child.asked : child.busy;
    const std::int64_t cores = job.held > 0 ? job.held : job.cores;
    if (is_in) {
        counts.add(job.user, cores);
    } else {
        counts.remove(job.user, cores);
    }
}

void HandDown::watch(Record& record) {
    if (is_in_child(record.job) && stuck_at(record) > now_) {
        record.counted_at = stuck_at(record);
        stuck_at_[record.counted_at] += 1;
        watched_ += 1;
    }
}

void HandDown::unwatch(Record& record) {
    if (const std::int64_t tick = std::exchange(record.counted_at, 0); tick > now_) {
        const auto counted = stuck_at_.find(tick);
        if (--counted->second == 0) {
            stuck_at_.erase(counted);
        }
        watched_ -= 1;
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

/// After its jobs have changed. A child that has ended is kept until its jobs are known to have left it.
void HandDown::settle_child(JobId id) {
    const auto child = children_.find(id);
    if (child == children_.end()) {
        return;
    }
    refresh(id, child->second);
    if (!child->second.is_known && is_empty(child->second)) {
        rooms_.erase(room_of(id));
        children_.erase(child);
        reaches_.clear();
    }
}

void HandDown::set(JobId id, Job job) {
    const auto found = jobs_.find(id);
    Filed filed = found != jobs_.end() ? &*found : nullptr;
    set(id, filed, std::move(job));
}

void HandDown::set(JobId id, Filed& filed, Job job) {
    if (filed == nullptr && job.standing == Standing::absent) {
        return;
    }
    if (filed == nullptr) {
        filed = &*jobs_.try_emplace(id).first;
    } else if (filed->second.job == job) {
        return;
    }
    is_due_ = true;
    Record& record = filed->second;
    const JobId former = record.job.child;
    const bool keeps_place = is_same_place(record.job, job);
    unwatch(record);
    file_cores(record.job, false);
    if (!keeps_place) {
        file_place(id, record, false);
    }
    if (job.standing == Standing::absent) {
        jobs_.erase(id);
        filed = nullptr;
        settle_child(former);
        return;
    }
    const bool has_stayed = former == job.child;
    record.since = has_stayed ? record.since : now_;
    record.arrived = has_stayed && record.job.is_there ? record.arrived : now_;
    record.is_considered = has_stayed && record.is_considered;
    record.job = std::move(job);
    if (!keeps_place) {
        file_place(id, record, true);
    }
    file_cores(record.job, true);
    watch(record);
    settle_child(record.job.child);
    if (!has_stayed) {
        settle_child(former);
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
    settle_child(id);
}

void HandDown::tick() {
    ++now_;
    while (!stuck_at_.empty() && stuck_at_.begin()->first <= now_) {
        watched_ -= stuck_at_.begin()->second;
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
    const auto is_late = [this](const Place& place) { return is_stuck(*place.record); };
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

/// Whether a plan surely leaves each job where it is: none waits here, and each child may keep those that it has, has
/// room for all of them, and starts them soon enough. O(children + classes of jobs in them).
bool HandDown::is_at_rest(const Rules& rules) const {
    const auto keeps_all = [&](const Room& room) {
        const Child& child = *room.child;
        return !room.has_waiting || (!room.has_limits && child.waiting_cores <= room.free &&
                                     std::all_of(child.waiting.begin(), child.waiting.end(), [&](const auto& entry) {
                                         const JobClass& jobs = entry.first;
                                         return !jobs.is_held_back && has(child.facts.serves, jobs.queue) &&
                                                rules.takes(jobs.kind, child.facts.rank);
                                     }));
    };
    return waiting_.empty() && watched_ == in_children_ && std::all_of(rooms_.begin(), rooms_.end(), keeps_all);
}

std::map<JobId, HandDown::Objection> HandDown::objections(const std::vector<JobId>& ids, const Rules& rules) {
    std::vector<Checked> in_children;
    for (const JobId id : ids) {
        const auto found = jobs_.find(id);
        if (found != jobs_.end() && is_in_child(found->second.job)) {
            in_children.push_back({id, &found->second});
        }
    }
    return in_children.empty() || is_at_rest(rules) ? std::map<JobId, Objection>()
                                                    : Pass(*this, rules).objections(std::move(in_children));
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
    if (is_at_rest(rules)) {
        for (Room& room : rooms_) {
            room.is_short = false;
            room.growth = depth_ > 0 ? 1 : room.growth;
        }
        return {};
    }
    Pass pass(*this, rules);
    std::vector<Move> moves = pass.run();
    for (const Move& move : moves) {
        if (!move.is_stuck) {
            continue;
        }
        Record& record = jobs_.at(move.id);
        if (record.patience < record.patience_max()) {
            record.patience *= 2;
        }
    }
    pass.note_shortage(rooms_);
    return moves;
}

}  // namespace weir::route
