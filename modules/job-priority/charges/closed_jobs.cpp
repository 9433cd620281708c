// SPDX-License-Identifier: LGPL-3.0-only
// Owns: closed jobs and their corrections. See closed_jobs.hpp.
#include "modules/job-priority/charges/closed_jobs.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace weir::priority {
namespace {

constexpr std::size_t depth_max = 8;  ///< of closed jobs inside one another when one is reported, as of open ones
/// Around a closed job: the instances that were open around such a chain may close after it.
constexpr std::size_t lenders_max = 2 * (depth_max + 1);

}  // namespace

void ClosedJobs::restore(const ShareTree& tree, const SavedState& saved) {
    for (const auto& [key, row] : saved.closed) {
        put(key, {job_of(tree, row.job), row.end, row.downlink, row.is_told});
    }
}

void ClosedJobs::keep(Ledgers& ledgers, ReportedKey key, const ClosedJob& closed) {
    ledgers.log().mark_closed(key);
    put(key, closed);
}

void ClosedJobs::put(ReportedKey key, const ClosedJob& closed) {
    drop(key);
    jobs_.emplace(key, closed);
    inside_.add(key, closed.job.inside);
}

void ClosedJobs::drop(ReportedKey key) {
    const auto found = jobs_.find(key);
    if (found == jobs_.end()) {
        return;
    }
    inside_.remove(key, found->second.job.inside);
    jobs_.erase(found);
}

void ClosedJobs::name_life(Ledgers& ledgers, std::uint64_t life, const std::string& instance) {
    const auto found = jobs_.find({life, 0});
    if (found != jobs_.end() && found->second.downlink.instance.empty()) {
        found->second.downlink.instance = instance;
        ledgers.log().mark_closed(found->first);
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
        log.mark_closed(entry->second);
    }
}

/// Moves the cores to the closed job, or back to its lender. A lender counts up to its own end: from there on the cores
/// were with the job that lent them to it.
void ClosedJobs::lend(Ledgers& ledgers, const ClosedJob& closed, std::uint64_t child, Loan loan) const {
    auto [from, to, sign] = loan;
    const RunningJob& job = closed.job;
    ledgers.pay(job, sign * job.cores, sign * job.bill.rate, from, to);
    auto lender = jobs_.find({child, job.inside});
    for (std::size_t depth = 0; depth <= lenders_max && lender != jobs_.end() && from < to; ++depth) {
        const Instant until = std::min(to, lender->second.end);
        if (from < until) {
            const RunningJob& around = lender->second.job;
            ledgers.pay(around, -sign * job.cores, -sign * around.rate_of(job.cores), from, until);
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
    ledgers.log().mark_closed(lender);
    return closed.job.told_until;
}

/// The last report about the cores of a job, also of those in it: it ended no earlier.
Instant ClosedJobs::told_until(ReportedKey key) const {
    const RunningJob& job = jobs_.at(key).job;
    Instant until = std::max(job.start, job.told_until);
    for (const std::uint64_t number : inside_.of(key)) {
        const ClosedJob& inner = jobs_.at({key.first, number});
        until = std::max(until, inner.is_told ? inner.end : told_until({key.first, number}));
    }
    return until;
}

void ClosedJobs::move_end(Ledgers& ledgers, ReportedKey key, Instant at) {
    ClosedJob& closed = jobs_.at(key);
    if (at > closed.end) {
        lend(ledgers, closed, key.first, {closed.end, at, 1});
    } else {
        lend(ledgers, closed, key.first, {at, closed.end, -1});
    }
    closed.end = at;
    ledgers.log().mark_closed(key);
}

/// A job of which no end was told ended no earlier than what was told of a job in it.
void ClosedJobs::end_not_before(Ledgers& ledgers, ReportedKey key, Instant at) {
    const auto found = jobs_.find(key);
    if (found != jobs_.end() && key.second != 0 && !found->second.is_told && found->second.end < at) {
        end_not_before(ledgers, {key.first, found->second.job.inside}, at);
        move_end(ledgers, key, at);
    }
}

/// Jobs of which no end was told end with the job around them.
void ClosedJobs::end_inside(Ledgers& ledgers, ReportedKey around, Instant at) {
    for (const std::uint64_t number : inside_.of(around)) {
        const ReportedKey key{around.first, number};
        const Instant end = std::max(at, told_until(key));
        if (const ClosedJob& inner = jobs_.at(key); !inner.is_told && inner.end > end) {
            end_inside(ledgers, key, end);
            move_end(ledgers, key, end);
        }
    }
}

/// Lends once more, or takes back, what all jobs inside had after `from`.
void ClosedJobs::lend_inside(Ledgers& ledgers, ReportedKey around, Instant from, int sign) const {
    for (const std::uint64_t number : inside_.of(around)) {
        const ReportedKey key{around.first, number};
        const ClosedJob& inner = jobs_.at(key);
        if (inner.end > from) {
            lend(ledgers, inner, key.first, {std::max(from, inner.job.start), inner.end, sign});
        }
        lend_inside(ledgers, key, from, sign);
    }
}

bool ClosedJobs::correct_end(Ledgers& ledgers, ReportedKey key, Instant at) {
    const auto found = jobs_.find(key);
    if (found == jobs_.end() || key.second == 0) {
        return false;
    }
    ClosedJob& closed = found->second;
    at = std::max(at, closed.job.start);
    if (const ReportedKey lender{key.first, closed.job.inside}; jobs_.count(lender) != 0) {
        at = date_report(ledgers, lender, at);
        end_not_before(ledgers, lender, at);
    }
    end_inside(ledgers, key, at);
    // What a job in it had after its end was not its own to lend.
    const Instant from = std::min(at, closed.end);
    lend_inside(ledgers, key, from, -1);
    closed.is_told = true;
    move_end(ledgers, key, at);
    lend_inside(ledgers, key, from, 1);
    if (closed.job.payer != idle && !inside_.has(key)) {  // no instance: nothing in it can be corrected
        drop(key);
        ledgers.log().mark_closed(key);
    }
    return true;
}

/// A job whose end was told has returned its cores, also one that ended after what the parent took for the lender's
/// end.
std::int64_t ClosedJobs::cores_left(ReportedKey lender) const {
    const ClosedJob& around = jobs_.at(lender);
    std::int64_t left = around.job.cores;
    for (const std::uint64_t number : inside_.of(lender)) {
        const ClosedJob& inner = jobs_.at({lender.first, number});
        left -= inner.is_told || number == 0 ? 0 : inner.job.cores;  // number 0: the life is in itself
    }
    return left;
}

bool ClosedJobs::is_too_deep(ReportedKey lender) const {
    std::size_t depth = 0;
    for (auto around = jobs_.find(lender); around != jobs_.end() && around->first.second != 0; ++depth) {
        around = jobs_.find({lender.first, around->second.job.inside});
    }
    return depth > depth_max;
}

bool ClosedJobs::report_past(Ledgers& ledgers, ReportedKey key, const ReportedStart& start) {
    const ReportedKey lender{key.first, jobs_.count({key.first, start.inside}) != 0 ? start.inside : 0};
    if (jobs_.count(lender) == 0 || is_taken(key) || is_too_deep(lender)) {
        return false;
    }
    const std::int64_t cores = std::min(start.cores, cores_left(lender));
    if (cores <= 0) {
        return false;
    }
    const Instant begin = date_report(ledgers, lender, start.at);
    const ClosedJob& around = jobs_.at(lender);
    RunningJob job = job_of(start, around.job, cores, begin);
    job.inside = lender.second;
    const ClosedJob closed{job, std::max(begin, around.end), {}};
    lend(ledgers, closed, key.first, {begin, closed.end, 1});
    keep(ledgers, key, closed);
    return true;
}

void ClosedJobs::follow(const ShareTree& before, std::span<const NodeId> moved) {
    for (auto& [key, closed] : jobs_) {
        follow_tree(closed.job, before, moved);
    }
}

}  // namespace weir::priority
