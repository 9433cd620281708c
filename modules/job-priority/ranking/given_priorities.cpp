// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see given_priorities.hpp.
#include "modules/job-priority/ranking/given_priorities.hpp"

#include <algorithm>
#include <set>

#include "libsched/priority/factors.hpp"

namespace weir::priority {

std::vector<FluxJobId> GivenPriorities::take(const std::vector<GivenPriority>& rows, bool is_all) {
    std::vector<FluxJobId> changed;
    const auto set = [&changed](Given& given, std::optional<std::int64_t> priority) {
        if (given.priority != priority) {
            given.priority = priority;
            if (given.copy != 0) {
                changed.push_back(given.copy);
            }
        }
    };
    std::set<FluxJobId> named;
    for (const auto& [id, priority] : rows) {
        set(jobs_[id], priority);
        named.insert(id);
    }
    if (is_all) {
        for (auto& [id, given] : jobs_) {
            if (named.count(id) == 0) {
                set(given, std::nullopt);
            }
        }
        std::erase_if(jobs_, [](const auto& entry) { return is_empty(entry.second); });
    }
    for (const FluxJobId id : named) {
        if (const auto given = jobs_.find(id); given != jobs_.end() && is_empty(given->second)) {
            jobs_.erase(given);
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
