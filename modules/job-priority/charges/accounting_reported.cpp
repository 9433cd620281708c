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
        ledgers_.log().put_reported({child, inside}, row_of(tree(), lender));
    } else {
        put_running(child, lender);
    }
    return lender.told_until;
}

std::optional<Instant> Accounting::report_start(ReportedKey key, const ReportedStart& start) {
    RunningJob* from = lender(key.first, start.inside);
    if (from == nullptr || reported_.count(key) != 0 || closed_.is_taken(key) || is_too_deep(key, start.inside)) {
        return std::nullopt;
    }
    const std::int64_t moved = std::min(start.cores, from->cores - from->given);
    if (moved <= 0) {
        return std::nullopt;
    }
    from->given += moved;
    const RunningJob job = job_of(start, *from, moved, date_report(key.first, start.inside, *from, start.at));
    ledgers_.lend(*from, job);
    ledgers_.open(job);
    reported_.emplace(key, job);
    inside_.add(key, job.inside);
    ledgers_.log().put_reported(key, row_of(tree(), job));
    return job.start;
}

/// The last report about the cores of a reported job, also of those inside it: it ends no earlier.
Instant Accounting::told_until(const ReportedKey& of) const {
    const RunningJob& job = reported_.at(of);
    Instant until = std::max(job.start, job.told_until);
    for (const std::uint64_t number : inside_.of(of)) {
        until = std::max(until, told_until({of.first, number}));
    }
    return until;
}

std::optional<Instant> Accounting::report_end(ReportedKey key, Instant at, bool is_kept) {
    const auto found = reported_.find(key);
    if (found == reported_.end()) {
        return std::nullopt;
    }
    at = std::max(at, told_until(key));
    if (RunningJob* to = lender(key.first, found->second.inside)) {
        at = date_report(key.first, found->second.inside, *to, at);
    }
    if (is_kept && (inside_.has(key) || found->second.payer == idle)) {  // it runs an instance
        keep_with_inside(key, at, true);
        closed_.prune(ledgers_.log());
    }
    close(found, at);
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
void Accounting::close(std::map<ReportedKey, RunningJob>::iterator reported, Instant at) {
    const ReportedKey key = reported->first;
    end_inside(key, at);
    const RunningJob job = reported->second;
    if (RunningJob* to = lender(key.first, job.inside)) {
        to->given -= job.cores;
        ledgers_.take_back(*to, job, at);
    }
    ledgers_.close(job, at);
    reported_.erase(reported);
    inside_.remove(key, job.inside);
    ledgers_.log().put_reported(key, std::nullopt);
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
