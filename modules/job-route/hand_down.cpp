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
            change(children_[job.child].waiting);
            break;
        case Standing::busy:
            break;
    }
    if (job.standing == Standing::asked || job.standing == Standing::busy) {
        Child& child = children_[job.child];
        LimitCounts& counts = job.standing == Standing::asked ? child.asked : child.busy;
        const std::int64_t cores = job.held > 0 ? job.held : job.cores;
        if (is_in) {
            counts.add(job.user, cores);
        } else {
            counts.remove(job.user, cores);
        }
    }
    const auto child = children_.find(job.child);
    if (child != children_.end() && !child->second.is_known && is_empty(child->second)) {
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
    child->second.growth = 1;
    child->second.is_short = false;
    if (is_empty(child->second)) {
        children_.erase(child);
    }
}

void HandDown::tick() {
    ++now_;
    while (!stuck_at_.empty() && stuck_at_.begin()->first <= now_) {
        stuck_at_.erase(stuck_at_.begin());
        is_due_ = true;
    }
    for (auto& [id, child] : children_) {
        if (child.is_short && child.growth < depth_growth_max) {
            child.growth *= 2;
            is_due_ = true;
        }
    }
}

std::optional<std::int64_t> HandDown::next_change() const {
    const bool is_growing = std::any_of(children_.begin(), children_.end(), [](const auto& entry) {
        return entry.second.is_short && entry.second.growth < depth_growth_max;
    });
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

std::map<JobId, HandDown::Objection> HandDown::objections(const std::vector<JobId>& ids, const Rules& rules) const {
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
    for (auto& [id, child] : children_) {
        child.is_short = pass.is_short(id);
        child.growth = pass.ahead(id) < depth_ ? 1 : child.growth;
    }
    return moves;
}

}  // namespace weir::route
