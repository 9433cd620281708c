// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the values that the site's own script sets. See priority_service.hpp.
#include "modules/job-priority/priority_service.hpp"

namespace weir::priority {

SiteEdit PriorityService::propose_site_values(
    std::span<const std::pair<FluxJobId, std::optional<double>>> values) const {
    SiteEdit edit;
    for (const auto& [id, value] : values) {
        const BookJob* job = book_.find(id);
        if (job == nullptr) {
            edit.unknown.push_back(id);
        } else {
            edit.rows[id] = value ? std::optional(SiteRow{*value, job->submit_stamp}) : std::nullopt;
        }
    }
    return edit;
}

void PriorityService::accept(const SiteEdit& edit) {
    for (const auto& [id, row] : edit.rows) {
        if (row) {
            site_[id] = *row;
        } else {
            site_.erase(id);
        }
        if (const BookJob* job = book_.find(id); job != nullptr && job->is_pending()) {
            put(*job);
        }
    }
}

std::optional<double> PriorityService::site_value(FluxJobId id) const {
    const auto found = site_.find(id);
    return found == site_.end() ? std::nullopt : std::optional(found->second.value);
}

void PriorityService::forget_site_value(FluxJobId id) {
    if (site_.erase(id) != 0) {
        accounting_.batch().site[id] = std::nullopt;
    }
}

void PriorityService::forget_vanished_site_values() {
    for (auto entry = site_.begin(); entry != site_.end();) {
        const auto [id, row] = *entry++;
        const BookJob* job = book_.find(id);
        if (job == nullptr || (row.submit != Instant{} && row.submit != job->submit_stamp)) {
            forget_site_value(id);
        }
    }
}

}  // namespace weir::priority
