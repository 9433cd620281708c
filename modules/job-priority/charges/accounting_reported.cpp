// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the cores of a running job that other jobs use, as its child instance reports. See accounting.hpp.
#include <algorithm>

#include "modules/job-priority/charges/accounting.hpp"

namespace weir::priority {

/// The job whose cores a job inside `child` uses; null: it is not charged.
RunningJob* Accounting::lender(FluxJobId child, std::uint64_t inside) {
    if (inside != 0) {
        const auto found = reported_.find({child, inside});
        return found == reported_.end() ? nullptr : &found->second;
    }
    const auto found = running_.find(child);
    return found == running_.end() ? nullptr : &found->second;
}

bool Accounting::is_too_deep(const ReportedKey& key, std::uint64_t inside) const {
    std::size_t depth = 0;
    for (std::uint64_t at = inside; at != 0; ++depth) {
        const auto found = reported_.find({key.first, at});
        if (found == reported_.end() || depth >= reported_depth_max) {
            return true;
        }
        at = found->second.inside;
    }
    return false;
}

/// `at`, or the last report about the lender's cores if that is later. No later report may be dated before the result.
Instant Accounting::date_report(FluxJobId child, std::uint64_t inside, RunningJob& lender, Instant at) {
    lender.told_until = std::max({at, lender.start, lender.told_until});
    if (inside != 0) {
        ledgers_.log().mark_reported({child, inside});
    } else {
        ledgers_.log().mark_running(child);
    }
    return lender.told_until;
}

const RunningJob* Accounting::report_start(ReportedKey key, const ReportedStart& start) {
    RunningJob* from = lender(key.first, start.inside);
    const std::int64_t moved = from == nullptr ? 0 : std::min(start.cores, from->cores - from->given);
    if (moved <= 0 || closed_.is_taken(key) || is_too_deep(key, start.inside)) {
        return nullptr;
    }
    const auto behind = reported_.lower_bound(key);
    if (behind != reported_.end() && behind->first == key) {
        return nullptr;
    }
    const Instant at = date_report(key.first, start.inside, *from, start.at);
    const RunningJob& job = reported_.emplace_hint(behind, key, job_of(start, *from, moved, at))->second;
    from->given += moved;
    ledgers_.open_inside(*from, job);
    if (job.inside != 0) {
        inside_.add(key, job.inside);
    }
    ledgers_.log().mark_reported(key);
    return &job;
}

/// The last report about the cores of a reported job, also of those inside it: it ends no earlier.
Instant Accounting::told_until(const ReportedKey& of, const RunningJob& job) const {
    Instant until = std::max(job.start, job.told_until);
    for (const std::uint64_t number : inside_.of(of)) {
        const ReportedKey inner{of.first, number};
        until = std::max(until, told_until(inner, reported_.at(inner)));
    }
    return until;
}

Instant Accounting::report_end(ReportedJobs::const_iterator job, Instant at, bool is_kept) {
    const ReportedKey key = job->first;
    at = std::max(at, told_until(key, job->second));
    if (RunningJob* to = lender(key.first, job->second.inside)) {
        at = date_report(key.first, job->second.inside, *to, at);
    }
    if (is_kept && (inside_.has(key) || job->second.payer == idle)) {  // it runs an instance
        keep_with_inside(key, at, true);
        closed_.prune(ledgers_.log());
    }
    close(job, at);
    return at;
}

void Accounting::keep_with_inside(ReportedKey key, Instant at, bool is_told) {
    const RunningJob& job = reported_.at(key);
    closed_.keep(ledgers_, key, {job, std::max(at, job.start), {}, is_told});
    for (const std::uint64_t number : inside_.of(key)) {
        keep_with_inside({key.first, number}, at, false);
    }
}

/// REQUIRES: `at` is not before the job's start.
void Accounting::close(ReportedJobs::const_iterator reported, Instant at) {
    const ReportedKey key = reported->first;
    end_inside(key, at);
    const auto node = reported_.extract(reported);
    const RunningJob& job = node.mapped();
    if (RunningJob* to = lender(key.first, job.inside)) {
        to->given -= job.cores;
        ledgers_.close_inside(*to, job, at);
    } else {
        ledgers_.close(job, at);
    }
    if (job.inside != 0) {
        inside_.remove(key, job.inside);
    }
    ledgers_.log().mark_reported_ended(key);
}

void Accounting::end_all_of(FluxJobId child, Instant at) {
    for (auto job = reported_.lower_bound({child, 0}); job != reported_.end() && job->first.first == child;
         job = reported_.lower_bound({child, 0})) {
        close(job, std::max(at, job->second.start));  // with those inside it
    }
}

void Accounting::end_inside(ReportedKey around, Instant at) {
    while (inside_.has(around)) {
        const auto found = reported_.find({around.first, *inside_.of(around).begin()});
        close(found, std::max(at, found->second.start));
    }
}

void Accounting::close_child(FluxJobId child, const DownlinkRow& downlink, Instant at) {
    const RunningJob* own = find(child);
    if (own == nullptr) {
        return;
    }
    closed_.keep(ledgers_, {child, 0}, {*own, std::max(at, own->start), downlink});
    for (auto job = reported_.lower_bound({child, 0}); job != reported_.end() && job->first.first == child; ++job) {
        closed_.keep(ledgers_, job->first, {job->second, std::max({at, own->start, job->second.start}), {}});
    }
    closed_.prune(ledgers_.log());
}

}  // namespace weir::priority
