// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the site's values. See site_values.hpp.
#include "modules/job-priority/ranking/site_values.hpp"

namespace weir::priority {

SiteEdit SiteValues::propose(const JobBook& book, std::span<const std::pair<FluxJobId, std::optional<double>>> values) {
    SiteEdit edit;
    for (const auto& [id, value] : values) {
        const BookJob* job = book.find(id);
        if (job == nullptr) {
            edit.unknown.push_back(id);
        } else {
            edit.rows[id] = value ? std::optional(SiteRow{*value, job->submit_stamp}) : std::nullopt;
        }
    }
    return edit;
}

void SiteValues::accept(const SiteEdit& edit) {
    for (const auto& [id, row] : edit.rows) {
        if (row) {
            rows_[id] = *row;
        } else {
            rows_.erase(id);
        }
    }
}

std::optional<double> SiteValues::find(FluxJobId id) const {
    const auto found = rows_.find(id);
    return found == rows_.end() ? std::nullopt : std::optional(found->second.value);
}

void SiteValues::forget(FluxJobId id) {
    if (rows_.erase(id) != 0) {
        log_.put_site(id, std::nullopt);
    }
}

void SiteValues::forget_vanished(const JobBook& book) {
    for (auto entry = rows_.begin(); entry != rows_.end();) {
        const auto [id, row] = *entry++;
        const BookJob* job = book.find(id);
        if (job == nullptr || (row.submit != Instant{} && row.submit != job->submit_stamp)) {
            forget(id);
        }
    }
}

}  // namespace weir::priority
