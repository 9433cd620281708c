// SPDX-License-Identifier: LGPL-3.0-only
// Owns: RouteTable's children that end, are lost, or are drained, and what becomes of their jobs.
#include <algorithm>

#include "modules/job-route/route_table.hpp"

namespace weir::route {

/// Any job's end may be a child's. O(log children), and O(its jobs) if it was one.
void RouteTable::child_ended(JobId id) {
    drained_.erase(id);
    const auto child = children_.find(id);
    if (!is_synced_ || child == children_.end()) {
        return;
    }
    for (const JobId job : jobs_given(child->second)) {
        const auto entry = jobs_.find(job);
        if (entry == jobs_.end() || !entry->second.is_with(id)) {
            continue;
        }
        if (has_alloc(entry->second.progress)) {
            lose(*entry, "the child instance that ran it ended");
        } else {
            take_back(*entry);
        }
    }
    children_.erase(child);
    hand_down_.remove_child(id);
    hand_down_.rules_changed();
    forget_unfit(id);
    are_children_changed_ = true;
}

/// Recalls the jobs that cannot have started, since the child never got `go` for them. If the child comes back, their
/// copies are cancelled (disown()). Where an allocation is on its way to the record, the next tick looks again.
void RouteTable::give_up(JobId id, Child& child) {
    for (const JobId job : jobs_given(child)) {
        const auto entry = jobs_.find(job);
        if (entry != jobs_.end() && entry->second.is_with(id) && !has_alloc(entry->second.progress) &&
            !entry->second.given()->is_alloc_asked) {
            take_back(*entry);
        }
    }
}

void RouteTable::set_drained(JobId id, bool is_drained) {
    const auto child = children_.find(id);
    hand_down_.rules_changed();
    if (!is_drained) {
        drained_.erase(id);
        if (child != children_.end()) {
            refile_child(id, child->second);
        }
        return;
    }
    drained_.insert(id);
    if (child != children_.end()) {
        refile_child(id, child->second);
        empty(id, child->second);
    }
}

void RouteTable::set_stopped(std::set<std::string> queues) {
    if (std::exchange(stopped_, std::move(queues)) == stopped_) {
        return;
    }
    for (auto& [id, child] : children_) {
        if (is_synced_) {
            empty(id, child);
        }
    }
    for (Entry& entry : jobs_) {
        refile(entry);
    }
}

/// Recalls the jobs that the child has not started, if it is drained, and those of stopped queues. A job whose
/// allocation is on its way to the record stays.
void RouteTable::empty(JobId id, Child& child) {
    for (const JobId job : jobs_given(child)) {
        const auto entry = jobs_.find(job);
        if (entry == jobs_.end() || has_alloc(entry->second.progress) || is_ending(entry->second.progress)) {
            continue;
        }
        const bool is_unwanted = drained_.count(id) > 0 || is_stopped(entry->second);
        if (is_unwanted && entry->second.is_with(id) && !entry->second.given()->is_alloc_asked) {
            recall(*entry);
        }
    }
}

bool RouteTable::is_awaited(const KeptPartition& partition) const {
    const int rank = book_.rank_of(partition.rules);
    return hand_down_.is_awaited([&](const HandDown::JobClass& jobs) {
        const auto& queues = partition.queues;
        return std::find(queues.begin(), queues.end(), jobs.queue) != queues.end() && book_.takes(jobs.kind, rank) &&
               !jobs.is_unfit_for(partition.job) &&
               (jobs.cores <= partition.cores || jobs.cores > takers(jobs).cores_max);
    });
}

void RouteTable::tick() {
    for (auto& [id, child] : children_) {
        if (child.is_attached && ++child.silent_ticks > patience_) {  // the first tick may come right after its report
            child.is_attached = false;
            are_children_changed_ = true;
            child.lost_ticks = child.silent_ticks;
            actions_.silent.push_back(id);
            give_up(id, child);
        } else if (!child.is_attached && ++child.lost_ticks >= patience_) {
            give_up(id, child);
        }
        for (auto& [job, ticks] : child.refused) {
            ++ticks;
        }
        const auto is_over = [pause = std::max(patience_, child.refusal_pause)](const auto& entry) {
            return entry.second >= pause;
        };
        if (std::erase_if(child.refused, is_over) > 0) {
            hand_down_.recheck();
        }
        refile_child(id, child);
    }
    hand_down_.tick();
}

bool RouteTable::needs_ticks() const {
    return !children_.empty();
}

}  // namespace weir::route
