// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the lives of a child instance. One that was killed comes back as another job of ours and continues its record
// stream; its reports about jobs of an earlier life are booked there. See child_reports.hpp.
#include <algorithm>

#include "modules/job-priority/charges/child_reports.hpp"

namespace weir::priority {

/// Only for the owner's instances: a guest's report corrects nothing that has ended. An instance that ended before it
/// attached has no name yet: see name_lives().
void ChildReports::apply(const AppliedEvent& applied) {
    if (children_.count(applied.event.id) != 0) {
        forget_payers();  // the child's own account, queue or QoS may have changed
    }
    if (applied.change != BookChange::ended) {
        return;
    }
    const BookJob& job = *applied.job;
    const auto child = children_.find(job.id);
    if (child != children_.end() ? book_.is_owners(job) : is_partition(job)) {
        accounting_.close_child(job.id, child != children_.end() ? child->second : DownlinkRow{}, applied.event.time);
    }
    forget({job.id});
}

/// A child is believed that it lived in partitions of its own user that ended before its job began and that no other
/// instance attached in. What it reports of that time moves the cores of those jobs, which nobody else can report.
void ChildReports::name_lives(FluxJobId child, const std::string& instance, const std::vector<FluxJobId>& hosts) {
    const BookJob* job = book_.find(child);
    const RunningJob* own = accounting_.find(child);
    if (job == nullptr || own == nullptr || !book_.is_owners(*job) || instance.empty()) {
        return;
    }
    for (const FluxJobId host : hosts) {
        const auto life = accounting_.closed().find({host, 0});
        if (life != accounting_.closed().end() && life->second.end <= own->start) {
            accounting_.name_life(host, instance);
        }
    }
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

/// The latest life, this one included, in which a job of that number ended; nothing if there is none.
std::optional<FluxJobId> ChildReports::life_with_closed(FluxJobId child, std::uint64_t job) const {
    const BookJob* own = book_.find(child);
    const auto& closed = accounting_.closed();
    if (job == 0 || own == nullptr || !book_.is_owners(*own) || accounting_.find(child) == nullptr) {
        return std::nullopt;
    }
    if (closed.count({child, job}) != 0) {  // inside an instance in it, which ended
        return child;
    }
    const std::vector<FluxJobId> lives = earlier_lives(child, children_.at(child).instance);
    const auto life = std::find_if(lives.begin(), lives.end(), [&](FluxJobId id) {
        return closed.count({id, job}) != 0;
    });
    return life != lives.end() ? std::optional(*life) : std::nullopt;
}

/// The life in which that instant lies; nothing if it is this one, as for nearly all records: the lives are looked for
/// among all closed jobs only after that.
std::optional<FluxJobId> ChildReports::earlier_life_at(FluxJobId child, Instant at) const {
    const RunningJob* own = accounting_.find(child);
    if (own == nullptr || at >= own->start) {
        return std::nullopt;
    }
    const std::vector<FluxJobId> lives = earlier_lives(child, children_.at(child).instance);
    if (lives.empty()) {
        return std::nullopt;
    }
    const auto& closed = accounting_.closed();
    const auto found = std::find_if(lives.begin(), lives.end(), [&](FluxJobId id) {
        return closed.at({id, 0}).job.start <= at;
    });
    return found == lives.end() ? lives.back() : *found;
}

/// False if the record is about a job of this life. REQUIRES: its job, or that of the start around it, is not open. Our
/// own parent has the earlier lives under the same names, and corrects its charges in the same way.
bool ChildReports::apply_to_past(const Reporter& from, const UplinkRow& record) {
    const FluxJobId child = from.child;
    const std::uint64_t around = record.is_start ? record.inside : record.job;
    auto life = life_with_closed(child, around);
    if (!life && record.is_start) {
        life = earlier_life_at(child, record.time);
    }
    if (!life) {
        return false;
    }
    const ReportedKey key{*life, record.job};
    const auto& closed = accounting_.closed();
    if (!record.is_start) {
        if (*life == child && closed.count({child, closed.at(key).job.inside}) == 0) {
            return true;  // the instance that it was in is not known any more
        }
        touched_.push_back(closed.at(key).job.payer);
        accounting_.correct_end(key, record.time);
    } else {
        const auto payer = record.user.empty() ? std::nullopt : payer_inside(from, record);
        if (!accounting_.report_past(key, start_of(key, from.job, record, payer))) {
            return true;
        }
        touched_.push_back(closed.at(key).job.payer);
    }
    uplink_.record(named_above(*life, record));
    return true;
}

}  // namespace weir::priority
