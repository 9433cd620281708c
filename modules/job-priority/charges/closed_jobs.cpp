// SPDX-License-Identifier: LGPL-3.0-only
// Owns: closed jobs and their corrections. See closed_jobs.hpp.
#include "modules/job-priority/charges/closed_jobs.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace weir::priority {
namespace {

constexpr std::size_t lenders_max = 8;  ///< of jobs inside one another, as of reported ones

}  // namespace

void ClosedJobs::restore(const ShareTree& tree, const SavedState& saved) {
    for (const auto& [key, row] : saved.closed) {
        put(key, {job_of(tree, row.job), row.end, row.downlink, row.is_told});
    }
}

void ClosedJobs::keep(Ledgers& ledgers, ReportedKey key, const ClosedJob& closed) {
    ledgers.log().put_closed(key, row_of(ledgers.tree(), closed));
    put(key, closed);
}

void ClosedJobs::put(ReportedKey key, const ClosedJob& closed) {
    drop(key);
    jobs_.emplace(key, closed);
    inside_[{key.first, closed.job.inside}] += 1;
}

void ClosedJobs::drop(ReportedKey key) {
    const auto found = jobs_.find(key);
    if (found == jobs_.end()) {
        return;
    }
    const auto around = inside_.find({key.first, found->second.job.inside});
    if (--around->second == 0) {
        inside_.erase(around);
    }
    jobs_.erase(found);
}

void ClosedJobs::name_life(Ledgers& ledgers, std::uint64_t life, const std::string& instance) {
    const auto found = jobs_.find({life, 0});
    if (found != jobs_.end() && found->second.downlink.instance.empty()) {
        found->second.downlink.instance = instance;
        ledgers.log().put_closed(found->first, row_of(ledgers.tree(), found->second));
    }
}

/// The older half is dropped: its children have not come back for the longest time.
void ClosedJobs::prune(StateLog& log) {
    if (jobs_.size() <= 2 * kept) {
        return;
    }
    std::vector<std::pair<Instant, ReportedKey>> ends;
    for (const auto& [key, closed] : jobs_) {
        ends.emplace_back(closed.end, key);
    }
    const auto middle = ends.begin() + static_cast<std::ptrdiff_t>(jobs_.size() - kept);
    std::nth_element(ends.begin(), middle, ends.end());
    for (auto entry = ends.begin(); entry != middle; ++entry) {
        drop(entry->second);
        log.put_closed(entry->second, std::nullopt);
    }
}

/// Moves the cores to the closed job, or back to its lender. A lender counts up to its own end, where that is known:
/// from there on the cores were with the job that lent them to it. A guessed end will be told, and may be later.
void ClosedJobs::lend(Ledgers& ledgers, const ClosedJob& closed, std::uint64_t child, Loan loan) const {
    auto [from, to, sign] = loan;
    const RunningJob& job = closed.job;
    ledgers.pay(job, sign * job.cores, sign * job.bill.rate, from, to);
    auto lender = jobs_.find({child, job.inside});
    for (std::size_t depth = 0; depth <= lenders_max && lender != jobs_.end() && from < to; ++depth) {
        const bool is_end_known = lender->first.second == 0 || lender->second.is_told;
        const Instant until = is_end_known ? std::min(to, lender->second.end) : to;
        if (from < until) {
            ledgers.pay(lender->second.job, -sign * job.cores, -sign * job.bill.rate, from, until);
            from = until;
        }
        lender = lender->first.second != 0 ? jobs_.find({child, lender->second.job.inside}) : jobs_.end();
    }
}

/// Until when cores of the lender may have been used: in an instance that ended in a child that runs, until the end of
/// the outermost such instance, since from there on the child has them.
Instant ClosedJobs::latest(ReportedKey lender) const {
    auto outermost = jobs_.find(lender);
    auto next = outermost;
    for (std::size_t depth = 0; next != jobs_.end() && next->first.second != 0 && depth <= lenders_max; ++depth) {
        outermost = next;
        next = jobs_.find({lender.first, outermost->second.job.inside});
    }
    return next == jobs_.end() ? outermost->second.end : Instant::max();
}

/// `at`, or the last report about the lender's cores if that is later: no instant of an ended life is reported twice.
Instant ClosedJobs::date_report(Ledgers& ledgers, ReportedKey lender, Instant at) {
    ClosedJob& closed = jobs_.at(lender);
    at = std::min(at, latest(lender));
    closed.job.told_until = std::max({at, closed.job.start, closed.job.told_until});
    ledgers.log().put_closed(lender, row_of(ledgers.tree(), closed));
    return closed.job.told_until;
}

bool ClosedJobs::correct_end(Ledgers& ledgers, ReportedKey key, Instant at) {
    const auto found = jobs_.find(key);
    if (found == jobs_.end() || key.second == 0) {
        return false;
    }
    const ClosedJob closed = found->second;
    at = std::max(at, closed.job.start);
    if (jobs_.count({key.first, closed.job.inside}) != 0) {
        at = date_report(ledgers, {key.first, closed.job.inside}, at);
    }
    if (at > closed.end) {
        lend(ledgers, closed, key.first, {closed.end, at, 1});
    } else {
        lend(ledgers, closed, key.first, {at, closed.end, -1});
    }
    if (closed.job.payer == idle) {  // an instance: what was open in it may be corrected after it
        keep(ledgers, key, {closed.job, at, closed.downlink, true});
        return true;
    }
    drop(key);
    ledgers.log().put_closed(key, std::nullopt);
    return true;
}

/// A job whose end was told has returned its cores, also one that ended after what the parent took for the lender's
/// end.
std::int64_t ClosedJobs::cores_left(ReportedKey lender) const {
    const ClosedJob& around = jobs_.at(lender);
    std::int64_t left = around.job.cores;
    for (auto job = jobs_.lower_bound({lender.first, 1}); job != jobs_.end() && job->first.first == lender.first;
         ++job) {
        const bool is_open = job->second.job.inside == lender.second && !job->second.is_told;
        left -= is_open ? job->second.job.cores : 0;
    }
    return left;
}

bool ClosedJobs::report_past(Ledgers& ledgers, ReportedKey key, const ReportedStart& start) {
    const ReportedKey lender{key.first, jobs_.count({key.first, start.inside}) != 0 ? start.inside : 0};
    if (jobs_.count(lender) == 0 || is_taken(key)) {
        return false;
    }
    const std::int64_t cores = std::min(start.cores, cores_left(lender));
    if (cores <= 0) {
        return false;
    }
    const Instant begin = date_report(ledgers, lender, start.at);
    const ClosedJob& around = jobs_.at(lender);
    const RunningJob job{.payer = start.payer.value_or(around.job.payer),
                         .cores = cores,
                         .start = begin,
                         .inside = lender.second,
                         .bill = {.rate = around.job.rate_of(cores), .queue = start.queue, .project = start.project}};
    const ClosedJob closed{job, std::max(begin, around.end), {}};
    lend(ledgers, closed, key.first, {begin, closed.end, 1});
    keep(ledgers, key, closed);
    return true;
}

void ClosedJobs::follow(std::span<const NodeId> moved) {
    for (auto& [key, closed] : jobs_) {
        follow_tree(closed.job, moved);
    }
}

}  // namespace weir::priority
