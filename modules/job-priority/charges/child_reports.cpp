// SPDX-License-Identifier: LGPL-3.0-only
// Owns: reports, record by record. See child_reports.hpp; earlier lives: child_lives.cpp.
#include "modules/job-priority/charges/child_reports.hpp"

#include <algorithm>

#include "libfairshare/base/keyed_hash.hpp"

namespace weir::priority {

Status ChildReports::authorize(FluxJobId child, std::uint32_t userid, bool is_instance_owner, bool is_private) const {
    const BookJob* job = book_.find(child);
    const bool is_others = job != nullptr && !is_instance_owner && job->userid != userid;
    if (job == nullptr || !job->has_resources || (is_others && is_private)) {
        return Error{std::errc::no_such_file_or_directory,
                     "job " + std::to_string(child) +
                         " is not running here: only the instance inside a running job may "
                         "report"};
    }
    if (is_others) {
        return Error{std::errc::operation_not_permitted,
                     "job " + std::to_string(child) + " belongs to another user: only its owner may report for it"};
    }
    return Done{};
}

std::uint64_t ChildReports::attach(FluxJobId child, const std::string& instance, std::uint64_t first_seq, Instant now,
                                   const std::vector<FluxJobId>& hosts) {
    DownlinkRow& row = children_[child];
    const DownlinkRow before = row;
    if (row.instance != instance) {
        row.instance = instance;
        row.seq_acked = 0;
        row.ignored_until = row.applied_until;
        name_lives(child, instance, hosts);
        go_on_from_earlier_lives(child, row);
    }
    row.seq_acked = std::max(row.seq_acked, first_seq == 0 ? 0 : first_seq - 1);
    if (row != before) {
        log_.put_downlink(child, row);
    }
    const BookJob* job = book_.find(child);
    if (job != nullptr && book_.is_partition(*job) && accounting_.move_payer(child, idle, now)) {
        uplink_.record({false, child, {}, {}, 0, now});
        uplink_.record({true, child, {}, {}, accounting_.find(child)->cores, now});
    }
    return row.seq_acked;
}

std::uint64_t ChildReports::report(FluxJobId child, std::uint64_t first_seq, std::vector<UplinkRow> records,
                                   Instant now) {
    DownlinkRow& row = children_[child];
    const Reporter from{.child = child, .job = book_.find(child)};
    std::uint64_t seq = first_seq;
    for (UplinkRow& record : records) {
        if (seq == row.seq_acked + 1) {
            record.time = std::min(record.time, now);
            // A child that lost its state counts from 1 again, and repeats the records of its former state.
            if (record.time > row.ignored_until) {
                apply(from, record);
            }
            row.seq_acked = seq;
            row.applied_until = std::max(row.applied_until, record.time);
        }
        seq += 1;
    }
    log_.put_downlink(child, row);
    return row.seq_acked;
}

std::optional<NodeId> ChildReports::payer_inside(const Reporter& from, const UplinkRow& record) {
    if (earlier_trees_.has(record.time)) {
        const auto then = payer_of_then(*from.job, record);
        return then ? then : find_payer_inside(*from.job, record);
    }
    // A guest's child may name whom it likes.
    return book_.is_owners(*from.job) ? known_payer_inside(*from.job, record) : find_payer_inside(*from.job, record);
}

std::optional<NodeId> ChildReports::known_payer_inside(const BookJob& child, const UplinkRow& record) {
    return memo_.of(
        {record.user, record.account, payers_.queue_inside(child, record), payers_.qos_inside(child, record)},
        [&] { return find_payer_inside(child, record); });
}

NodeId ChildReports::payer_of_place(FluxJobId child, const UplinkRow& record) {
    const BookJob* job = book_.find(child);
    if (job == nullptr || !is_partition(*job)) {
        return unassociated;
    }
    return known_payer_inside(*job, record).value_or(unassociated);
}

/// Nothing: no leaf paid for it in the tree of that time.
std::optional<NodeId> ChildReports::payer_of_then(const BookJob& child, const UplinkRow& record) {
    return earlier_trees_.payer(record.time, [&](const ShareTree& tree) {
        const auto payer = payers_.would_pay_inside(tree, child, record);
        return payer ? payer->association.leaf : std::nullopt;
    });
}

std::optional<NodeId> ChildReports::find_payer_inside(const BookJob& child, const UplinkRow& record) {
    const auto payer = payers_.would_pay_inside(accounting_.tree(), child, record);
    const NodeId node = payer ? accounting_.ledgers().admit(payer->association, payer->user) : unassociated;
    // For an unknown user of the owner's child `unassociated` pays. A guest's child may charge only his own
    // associations.
    return node == unassociated && !book_.is_owners(child) ? std::nullopt : std::optional(node);
}

ReportedStart ChildReports::start_of(ReportedKey key, const BookJob* child, const UplinkRow& record,
                                     std::optional<NodeId> payer) const {
    const bool is_billed = child != nullptr && book_.is_partition(*child) && !record.user.empty();
    ReportedStart start{.inside = record.inside,
                        .payer = payer,
                        .cores = record.cores,
                        .at = record.time,
                        .costs_its_part = !is_billed,
                        .above = uplink_.is_child() ? new_name_above(key) : 0};
    if (is_billed) {
        start.bill = {record.bill.rate, record.bill.prepaid, record.bill.gpus, record.bill.committed};
    }
    start.bill.queue = child != nullptr ? payers_.queue_inside(*child, record) : record.bill.queue;
    start.bill.project = child != nullptr ? payers_.project_inside(*child, record) : record.bill.project;
    return start;
}

const RunningJob* ChildReports::begin(const Reporter& from, const UplinkRow& record) {
    const bool is_nobodys = record.user.empty();
    const auto payer = from.job != nullptr && !is_nobodys ? payer_inside(from, record) : std::nullopt;
    if (!payer && !is_nobodys) {
        return nullptr;
    }
    const ReportedKey key{from.child, record.job};
    return accounting_.report_start(key, start_of(key, from.job, record, payer));
}

/// The numbers of two children's jobs may be the same, and a guest chooses those of his child: without the key he could
/// choose one whose name is another job's, and end that job's charge.
std::uint64_t ChildReports::new_name_above(ReportedKey key) const {
    return keyed_hash(log_.meta().names_key, key.first, key.second);
}

/// A job that began keeps its name.
std::uint64_t ChildReports::name_above(ReportedKey key) const {
    if (key.second == 0) {
        return key.first;
    }
    if (const auto open = accounting_.reported().find(key); open != accounting_.reported().end()) {
        return open->second.above;
    }
    if (const auto closed = accounting_.closed().find(key); closed != accounting_.closed().end()) {
        return closed->second.job.above;
    }
    return new_name_above(key);
}

/// As the charge is believed: our own parent believes us.
Bill ChildReports::bill_above(const RunningJob& job, const BookJob* child, const UplinkRow& record) const {
    Bill bill = job.bill;
    const bool is_guests = child != nullptr && !book_.is_owners(*child);
    bill.queue = is_guests ? child->request->queue_above : record.bill.queue;
    bill.qos = is_guests ? child->request->qos : record.bill.qos;
    return bill;
}

UplinkRow ChildReports::named_above(FluxJobId child, UplinkRow record) const {
    record.job = name_above({child, record.job});
    record.inside = name_above({child, record.inside});
    return record;
}

void ChildReports::apply(const Reporter& from, const UplinkRow& record) {
    records_ += 1;
    if (record.job == 0) {  // stands for the child's own job: its end above is not the child's to tell
        not_believed_ += 1;
        return;
    }
    const ReportedKey around{from.child, record.is_start ? record.inside : record.job};
    const ReportedJobs& jobs = accounting_.reported();
    const auto open = around.second != 0 ? jobs.find(around) : jobs.end();
    if (open == jobs.end() && apply_to_past(from, record)) {
        return;
    }
    if (record.is_start) {
        apply_start(from, record);
    } else if (open != jobs.end()) {
        apply_end(from, record, open);
    }
}

void ChildReports::apply_start(const Reporter& from, const UplinkRow& record) {
    const RunningJob* job = begin(from, record);
    if (job == nullptr) {
        not_believed_ += 1;
        return;
    }
    touched_.push_back(job->payer);
    if (uplink_.is_child()) {
        UplinkRow above = named_above(from.child, record);
        above.time = job->start;
        above.cores = job->cores;
        above.bill = bill_above(*job, from.job, record);
        uplink_.record(std::move(above));
    }
}

void ChildReports::apply_end(const Reporter& from, const UplinkRow& record, ReportedJobs::const_iterator open) {
    touched_.push_back(open->second.payer);
    std::optional<UplinkRow> above;
    if (uplink_.is_child()) {
        above = named_above(from.child, record);  // while the job is known
    }
    const bool is_kept = from.job != nullptr && book_.is_owners(*from.job);
    const Instant at = accounting_.report_end(open, record.time, is_kept);
    if (above) {
        above->time = at;
        uplink_.record(std::move(*above));
    }
}

void ChildReports::forget(const std::vector<FluxJobId>& children) {
    for (const FluxJobId child : children) {
        if (children_.erase(child) != 0) {
            log_.put_downlink(child, std::nullopt);
        }
    }
}

void ChildReports::forget_unheld() {
    for (auto child = children_.begin(); child != children_.end();) {
        const FluxJobId id = (child++)->first;
        if (const BookJob* job = book_.find(id); job == nullptr || !job->has_resources) {
            forget({id});
        }
    }
}

}  // namespace weir::priority
