// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what a child instance's earlier life left open, and what its next life tells of it. See accounting.hpp;
#include <algorithm>
#include <cstdlib>

#include "modules/job-priority/charges/accounting.hpp"

namespace weir::priority {

void Accounting::keep_closed(ReportedKey key, ClosedJob closed) {
    log_->put_closed(key, ClosedRow{row_of(closed.job), closed.end, closed.downlink});
    closed_.insert_or_assign(key, std::move(closed));
}

void Accounting::close_child(FluxJobId child, const DownlinkRow& downlink, Instant at) {
    const RunningJob* own = find(child);
    if (own == nullptr) {
        return;
    }
    keep_closed({child, 0}, {*own, std::max(at, own->start), downlink});
    for (auto job = reported_.lower_bound({child, 0}); job != reported_.end() && job->first.first == child; ++job) {
        keep_closed(job->first, {job->second, std::max({at, own->start, job->second.start}), {}});
    }
    prune_closed();
}

/// The oldest half goes first: whose child did not come back for so long.
void Accounting::prune_closed() {
    if (closed_.size() <= 2 * closed_kept) {
        return;
    }
    std::vector<std::pair<Instant, ReportedKey>> ends;
    for (const auto& [key, closed] : closed_) {
        ends.emplace_back(closed.end, key);
    }
    const auto middle = ends.begin() + static_cast<std::ptrdiff_t>(closed_.size() - closed_kept);
    std::nth_element(ends.begin(), middle, ends.end());
    for (auto entry = ends.begin(); entry != middle; ++entry) {
        closed_.erase(entry->second);
        log_->put_closed(entry->second, std::nullopt);
    }
}

/// `payer` pays for `cores` (negative: less) between two instants of the past.
void Accounting::pay(NodeId payer, std::int64_t cores, std::int64_t rate, Instant from, Instant to) {
    if (to <= from || cores == 0) {
        return;
    }
    post(payer, std::abs(cores), cores > 0 ? from : to);  // first what adds: no payer has less than nothing
    post(payer, -std::abs(cores), cores > 0 ? to : from);
    const CountedJob counted{{payer, rate, from, {}}, {cores, 0, {}}};
    count_start(counted);
    count_end(counted, to);
}

/// The cores are the closed job's (`sign` 1) or its lender's again (-1) between two instants, as far as the lender had
/// them.
void Accounting::lend_between(const ClosedJob& closed, std::uint64_t child, Instant from, Instant to, int sign) {
    const RunningJob& job = closed.job;
    pay(job.payer, sign * job.cores, sign * job.bill.rate, from, to);
    if (const auto lender = closed_.find({child, job.inside}); lender != closed_.end()) {
        pay(lender->second.job.payer, -sign * job.cores, -sign * job.bill.rate, from, std::min(to, lender->second.end));
    }
}

/// As tell() does: whatever a child says of a life that is over, no instant of its cores is told twice.
Instant Accounting::tell_closed(ReportedKey lender, Instant at) {
    ClosedJob& closed = closed_.at(lender);
    closed.job.told_until = std::max({at, closed.job.start, closed.job.told_until});
    log_->put_closed(lender, ClosedRow{row_of(closed.job), closed.end, closed.downlink});
    return closed.job.told_until;
}

bool Accounting::correct_end(ReportedKey key, Instant at) {
    const auto found = closed_.find(key);
    if (found == closed_.end() || key.second == 0) {
        return false;
    }
    const ClosedJob closed = found->second;
    at = std::max(at, closed.job.start);
    if (closed_.count({key.first, closed.job.inside}) != 0) {
        at = tell_closed({key.first, closed.job.inside}, at);
    }
    if (at > closed.end) {
        lend_between(closed, key.first, closed.end, at, 1);
    } else {
        lend_between(closed, key.first, at, closed.end, -1);
    }
    closed_.erase(found);
    log_->put_closed(key, std::nullopt);
    return true;
}

std::int64_t Accounting::closed_cores_left(ReportedKey lender) const {
    std::int64_t left = closed_.at(lender).job.cores;
    for (auto job = closed_.lower_bound({lender.first, 1}); job != closed_.end() && job->first.first == lender.first;
         ++job) {
        left -= job->second.job.inside == lender.second ? job->second.job.cores : 0;
    }
    return left;
}

bool Accounting::report_past(ReportedKey key, std::uint64_t inside, std::optional<NodeId> payer, std::int64_t cores,
                             Instant at) {
    const ReportedKey lender{key.first, closed_.count({key.first, inside}) != 0 ? inside : 0};
    if (closed_.count(lender) == 0 || closed_.count(key) != 0) {
        return false;
    }
    cores = std::min(cores, closed_cores_left(lender));
    if (cores <= 0) {
        return false;
    }
    const Instant start = tell_closed(lender, at);
    const ClosedJob& around = closed_.at(lender);
    RunningJob job{
        .payer = payer.value_or(around.job.payer), .cores = cores, .start = start, .inside = lender.second, .bill = {}};
    job.bill.rate = static_cast<std::int64_t>(static_cast<__int128>(around.job.bill.rate) * cores / around.job.cores);
    const ClosedJob closed{job, std::max(start, around.end), {}};
    lend_between(closed, key.first, start, closed.end, 1);
    keep_closed(key, closed);
    return true;
}

}  // namespace weir::priority
