// SPDX-License-Identifier: LGPL-3.0-only
// Owns: RootQueue. See root_queue.hpp.
#include "modules/replay/root_queue.hpp"

#include <algorithm>

namespace weir::replay {

std::uint32_t RootQueue::new_slot(route::LocalId id) {
    if (unused_.empty()) {
        slots_.push_back(id);
        return static_cast<std::uint32_t>(slots_.size() - 1);
    }
    const std::uint32_t slot = unused_.back();
    unused_.pop_back();
    slots_[slot] = id;
    return slot;
}

void RootQueue::submitted(route::LocalId id, const SimJob& job, Instant now) {
    const std::uint32_t slot = new_slot(id);
    jobs_.emplace(id, Entry{slot});
    waiting_.emplace(job.cores, id);
    fresh_.push_back(id);
    wants_order_ = true;
    if (order_ != nullptr) {
        order_->submitted(job, JobId{slot}, now);
    }
}

void RootQueue::allocated(route::LocalId id, const SimJob& job, Instant now) {
    waiting_.erase({job.cores, id});
    if (order_ != nullptr) {
        order_->started(job, JobId{jobs_.at(id).slot}, now);
    }
}

void RootQueue::finished(route::LocalId id, const SimJob& job, Instant now) {
    const auto entry = jobs_.find(id);
    const std::uint32_t slot = entry->second.slot;
    jobs_.erase(entry);
    unused_.push_back(slot);
    wants_order_ = true;
    if (order_ != nullptr) {
        order_->ended(job, JobId{slot}, now);
    }
}

RootQueue::Priorities RootQueue::prioritize(Instant now) {
    wants_order_ = false;
    changed_.clear();
    if (is_asked()) {
        order_->prioritize(now, changed_);
    }
    const std::vector<route::LocalId> fresh = std::exchange(fresh_, {});
    std::set<route::LocalId> news(fresh.begin(), fresh.end());
    for (const auto& [slot, priority] : changed_) {
        const route::LocalId id = slots_.at(slot.value);
        if (std::exchange(jobs_.at(id).priority, priority) != priority) {
            news.insert(id);
        }
    }
    Priorities priorities;
    for (const route::LocalId id : news) {
        priorities.emplace_back(id, jobs_.at(id).priority);
    }
    return priorities;
}

route::LocalId RootQueue::first_waiting() const {
    return std::min_element(waiting_.begin(), waiting_.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->second;
}

}  // namespace weir::replay
