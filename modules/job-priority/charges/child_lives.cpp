// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a child instance's lives: killed with its jobs, it comes back as another job of ours and goes on with its
// record stream; what it tells of jobs of an earlier life is booked there. See child_reports.hpp.
#include <algorithm>

#include "modules/job-priority/charges/child_reports.hpp"

namespace weir::priority {

/// Of the owner's instances alone: a guest's word changes nothing that is over.
void ChildReports::close(const BookJob& job, Instant at) {
    if (const auto child = children_.find(job.id); child != children_.end() && book_.is_owners(job)) {
        accounting_.close_child(job.id, child->second, at);
    }
    forget(job.id);
}

/// The closed jobs in which that instance lived before, the latest first.
std::vector<FluxJobId> ChildReports::earlier_lives(FluxJobId child, const std::string& instance) const {
    std::vector<FluxJobId> lives;
    const BookJob* job = book_.find(child);
    if (job == nullptr || !book_.is_owners(*job) || instance.empty()) {
        return lives;
    }
    for (const auto& [key, closed] : accounting_.closed()) {
        if (key.second == 0 && key.first != child && closed.downlink.instance == instance) {
            lives.push_back(key.first);
        }
    }
    const auto start = [this](FluxJobId life) { return accounting_.closed().at({life, 0}).job.start; };
    std::sort(lives.begin(), lives.end(),
              [&](FluxJobId a, FluxJobId b) { return start(a) == start(b) ? a > b : start(a) > start(b); });
    return lives;
}

void ChildReports::go_on_from_earlier_lives(FluxJobId child, DownlinkRow& row) const {
    for (const FluxJobId life : earlier_lives(child, row.instance)) {
        const DownlinkRow& before = accounting_.closed().at({life, 0}).downlink;
        row.seq_acked = std::max(row.seq_acked, before.seq_acked);
        row.applied_until = std::max(row.applied_until, before.applied_until);
    }
}

/// False when it began in none of them.
bool ChildReports::end_in_earlier_life(const std::vector<FluxJobId>& lives, const UplinkRow& record) {
    const auto& closed = accounting_.closed();
    const auto life = std::find_if(lives.begin(), lives.end(), [&](FluxJobId id) {
        return closed.count({id, record.job}) != 0;
    });
    if (life == lives.end()) {
        return false;
    }
    touched_.push_back(closed.at({*life, record.job}).job.payer);
    accounting_.correct_end({*life, record.job}, record.time);
    return true;
}

/// False when the record is of this life.
bool ChildReports::apply_to_earlier_life(FluxJobId child, const UplinkRow& record) {
    const RunningJob* own = accounting_.find(child);
    const bool is_of_now = record.is_start ? own == nullptr || record.time >= own->start
                                           : accounting_.reported().count({child, record.job}) != 0;
    if (is_of_now) {
        return false;
    }
    const std::vector<FluxJobId> lives = earlier_lives(child, children_.at(child).instance);
    if (!record.is_start) {
        return end_in_earlier_life(lives, record);
    }
    if (lives.empty()) {
        return false;
    }
    const auto& closed = accounting_.closed();
    const auto began = [&](FluxJobId id) { return closed.at({id, 0}).job.start <= record.time; };
    const auto found = std::find_if(lives.begin(), lives.end(), began);
    const FluxJobId life = found == lives.end() ? lives.back() : *found;
    const auto payer = record.user.empty() ? std::nullopt : payer_inside(*book_.find(child), record);
    if (accounting_.report_past({life, record.job}, {record.inside, payer, record.cores, record.time})) {
        touched_.push_back(closed.at({life, record.job}).job.payer);
    }
    return true;
}

}  // namespace weir::priority
