// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the cores of a running job that its child instance says others use. See accounting.hpp.
#include <algorithm>

#include "modules/job-priority/charges/accounting.hpp"

namespace weir::priority {

RunningJob* Accounting::giver(FluxJobId child, std::uint64_t inside) {
    if (inside != 0) {
        const auto found = reported_.find({child, inside});
        return found == reported_.end() ? nullptr : &found->second;
    }
    const auto found = running_.find(child);
    return found == running_.end() ? nullptr : &found->second;
}

bool Accounting::move_payer(FluxJobId id, NodeId payer, Instant at) {
    const auto found = running_.find(id);
    if (found == running_.end() || found->second.payer == payer || found->second.told_until != Instant{}) {
        return false;
    }
    RunningJob& job = found->second;
    at = std::max(at, job.start);
    post(job.payer, -job.cores, at);
    count_end(billed(job), at);
    job.payer = payer;
    job.start = at;
    post(payer, job.cores, at);
    count_start(billed(job));
    log_->put_running(id, row_of(job));
    return true;
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

/// `at` as far as a report about cores of `giver` may date it; whatever comes next is not before it.
Instant Accounting::tell(FluxJobId child, std::uint64_t inside, RunningJob& giver, Instant at) {
    giver.told_until = std::max({at, giver.start, giver.told_until});
    if (inside != 0) {
        log_->put_reported({child, inside}, row_of(giver));
    } else {
        log_->put_running(child, row_of(giver));
    }
    return giver.told_until;
}

std::optional<Instant> Accounting::report_start(ReportedKey key, std::uint64_t inside, std::optional<NodeId> payer,
                                                std::int64_t cores, Instant at) {
    RunningJob* from = giver(key.first, inside);
    if (from == nullptr || reported_.count(key) != 0 || is_too_deep(key, inside)) {
        return std::nullopt;
    }
    const std::int64_t moved = std::min(cores, from->cores - from->given);
    if (moved <= 0) {
        return std::nullopt;
    }
    from->given += moved;
    from->inner += 1;
    RunningJob job{.payer = payer.value_or(from->payer),
                   .cores = moved,
                   .start = tell(key.first, inside, *from, at),
                   .inside = inside,
                   .bill = {}};
    job.bill.rate = static_cast<std::int64_t>(static_cast<__int128>(from->bill.rate) * moved / from->cores);
    post(from->payer, -moved, job.start);
    post(job.payer, moved, job.start);
    count_start(lent(*from, job));
    count_start(billed(job));
    reported_.emplace(key, job);
    log_->put_reported(key, row_of(job));
    return job.start;
}

std::optional<Instant> Accounting::report_end(ReportedKey key, Instant at) {
    const auto found = reported_.find(key);
    if (found == reported_.end()) {
        return std::nullopt;
    }
    at = std::max({at, found->second.start, found->second.told_until});
    if (RunningJob* to = giver(key.first, found->second.inside)) {
        at = tell(key.first, found->second.inside, *to, at);
    }
    close(found, at);
    return at;
}

/// REQUIRES: `at` is not before the job's start.
void Accounting::close(std::map<ReportedKey, RunningJob>::iterator reported, Instant at) {
    const ReportedKey key = reported->first;
    if (reported->second.inner != 0) {
        end_inside(key.first, key.second, at);
    }
    const RunningJob job = reported->second;
    if (RunningJob* to = giver(key.first, job.inside)) {
        to->given -= job.cores;
        to->inner -= 1;
        post(to->payer, job.cores, at);
        count_end(lent(*to, job), at);
    }
    post(job.payer, -job.cores, at);
    count_end(billed(job), at);
    reported_.erase(reported);
    log_->put_reported(key, std::nullopt);
}

void Accounting::end_inside(FluxJobId child, std::uint64_t inside, Instant at) {
    std::vector<ReportedKey> open;
    for (auto entry = reported_.lower_bound({child, 0}); entry != reported_.end() && entry->first.first == child;
         ++entry) {
        if (entry->second.inside == inside) {
            open.push_back(entry->first);
        }
    }
    for (const ReportedKey& key : open) {
        const auto found = reported_.find(key);
        close(found, std::max(at, found->second.start));
    }
}

}  // namespace weir::priority
