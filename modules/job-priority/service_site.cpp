// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the values that the site's own script sets. See priority_service.hpp.
#include "modules/job-priority/priority_service.hpp"

namespace weir::priority {

std::vector<FluxJobId> PriorityService::set_site_values(
    std::span<const std::pair<FluxJobId, std::optional<double>>> values) {
    std::vector<FluxJobId> unknown;
    for (const auto& [id, value] : values) {
        const BookJob* job = book_.find(id);
        if (job == nullptr) {
            unknown.push_back(id);
            continue;
        }
        if (value) {
            site_[id] = *value;
        } else {
            site_.erase(id);
        }
        accounting_.batch().site[id] = value;
        if (job->is_pending()) {
            put(*job);
        }
    }
    return unknown;
}

std::optional<double> PriorityService::site_value(FluxJobId id) const {
    const auto found = site_.find(id);
    return found == site_.end() ? std::nullopt : std::optional(found->second);
}

void PriorityService::forget_site_value(FluxJobId id) {
    if (site_.erase(id) != 0) {
        accounting_.batch().site[id] = std::nullopt;
    }
}

void PriorityService::forget_vanished_site_values() {
    for (auto entry = site_.begin(); entry != site_.end();) {
        const FluxJobId id = (entry++)->first;
        if (book_.find(id) == nullptr) {
            forget_site_value(id);
        }
    }
}

}  // namespace weir::priority
