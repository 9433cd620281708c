// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see given_priorities.hpp.
#include "modules/job-priority/ranking/given_priorities.hpp"

#include <algorithm>
#include <set>

#include "libsched/priority/factors.hpp"

namespace weir::priority {

void GivenPriorities::set(FluxJobId id, std::optional<std::int64_t> priority, std::vector<FluxJobId>& changed) {
    const auto entry = jobs_.try_emplace(id).first;
    Given& given = entry->second;
    if (given.priority != priority && given.copy != 0) {
        changed.push_back(given.copy);
    }
    given.priority = priority;
    if (is_empty(given)) {
        jobs_.erase(entry);
    }
}

std::vector<FluxJobId> GivenPriorities::take(const std::vector<GivenPriority>& rows, bool is_all) {
    std::vector<FluxJobId> changed;
    for (const auto& [id, priority] : rows) {
        set(id, priority, changed);
    }
    if (is_all) {
        std::set<FluxJobId> unnamed;
        for (const auto& [id, given] : jobs_) {
            unnamed.insert(id);
        }
        for (const auto& [id, priority] : rows) {
            unnamed.erase(id);
        }
        for (const FluxJobId id : unnamed) {
            set(id, std::nullopt, changed);
        }
    }
    return changed;
}

std::optional<std::uint32_t> GivenPriorities::of(const BookJob& job) {
    if (job.copy_of == 0) {
        return std::nullopt;
    }
    Given& given = jobs_[job.copy_of];
    given.copy = job.id;
    if (!given.priority) {
        return std::nullopt;
    }
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(*given.priority, priority_min, priority_max));
}

bool GivenPriorities::has(const BookJob& job) const {
    const auto found = job.copy_of != 0 ? jobs_.find(job.copy_of) : jobs_.end();
    return found != jobs_.end() && found->second.priority.has_value();
}

bool GivenPriorities::are_all_here() const {
    return std::all_of(jobs_.begin(), jobs_.end(),
                       [](const auto& entry) { return !entry.second.priority || entry.second.copy != 0; });
}

void GivenPriorities::forget(const BookJob& job) {
    if (job.copy_of == 0) {
        return;
    }
    if (const auto given = jobs_.find(job.copy_of); given != jobs_.end() && given->second.copy == job.id) {
        given->second.copy = 0;
        if (is_empty(given->second)) {
            jobs_.erase(given);
        }
    }
}

void GivenPriorities::forget_copies() {
    for (auto& [id, given] : jobs_) {
        given.copy = 0;
    }
}

}  // namespace weir::priority
