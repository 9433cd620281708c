// SPDX-License-Identifier: LGPL-3.0-only
// Owns: usage as the site counts it, beside the exact core-seconds. See accounting.hpp.
#include <utility>

#include "modules/job-priority/charges/accounting.hpp"

namespace weir::priority {

CountedJob Accounting::billed(const RunningJob& job) {
    return {{job.payer, job.bill.rate, job.start, job.bill.prepaid}, {job.cores, job.bill.gpus, job.bill.committed}};
}

/// What a child's job, or a reported one, does not pay while `inner` does.
CountedJob Accounting::lent(const RunningJob& from, const RunningJob& inner) {
    return {{from.payer, -inner.bill.rate, inner.start, {}}, {-inner.cores, 0, {}}};
}

void Accounting::count_start(const CountedJob& job) {
    if (counted_) {
        counted_->start(job);
        log_->add_counted({payer_path(tree(), job.charge.payer), job, {}});
    }
}

void Accounting::count_end(const CountedJob& job, Instant at) {
    if (counted_) {
        counted_->end(job, at);
        log_->add_counted({payer_path(tree(), job.charge.payer), job, at});
    }
}

/// Everything that was started and has not ended.
std::vector<CountedJob> Accounting::open_jobs() {
    std::vector<CountedJob> open;
    open.reserve(running_.size() + 2 * reported_.size());
    for (const auto& [id, job] : running_) {
        open.push_back(billed(job));
    }
    for (const auto& [key, job] : reported_) {
        open.push_back(billed(job));
        if (const RunningJob* from = giver(key.first, job.inside)) {
            open.push_back(lent(*from, job));
        }
    }
    return open;
}

Status Accounting::restore_counted(const SavedState& saved) {
    if (saved.counted.rules.empty()) {
        return Done{};
    }
    Result<CountedUsage> counted = CountedUsage::restore(ledger_.tree_ptr(), saved.counted);
    if (!counted) {
        return counted.error();
    }
    if (counted->rules().unit != billing_unit) {
        return Error{std::errc::illegal_byte_sequence, "the state file counts usage in another unit"};
    }
    counted_ = std::move(*counted);
    for (const CountedRow& row : saved.counted_events) {
        CountedJob job = row.job;
        job.charge.payer = payer_at(tree(), row.path);
        if (row.ended) {
            counted_->end(job, *row.ended);
        } else {
            counted_->start(job);
        }
    }
    return Done{};
}

void Accounting::configure(const Counting& counting, Instant at) {
    if (ledger_.half_life() != counting.half_life) {
        ledger_.set_half_life(counting.half_life, at);
        log_->want_checkpoint();
    }
    const bool is_same = counted_ ? counting.rules == counted_->rules() : !counting.rules;
    if (is_same) {
        return;
    }
    log_->want_checkpoint();
    if (!counting.rules) {
        counted_.reset();
    } else if (counted_) {
        counted_->set_rules(*counting.rules, open_jobs(), at);
    } else {
        begin_to_count(*counting.rules, at);
    }
}

void Accounting::begin_to_count(const UsageRules& rules, Instant at) {
    for (auto& [id, job] : running_) {
        if (job.bill.prepaid != Duration{}) {
            job.bill.prepaid = Duration{};  // its core-seconds so far are in what is taken over
            log_->put_running(id, row_of(job));
        }
    }
    counted_.emplace(ledger_.tree_ptr(), rules);
    counted_->take_over(ledger_, open_jobs(), at);
}

void Accounting::measure(Instant now, UsageSnapshot& into) const {
    if (counted_) {
        counted_->snapshot(now, into);
    } else {
        ledger_.snapshot(now, into);
    }
}

void Accounting::measure_use(Instant now, std::vector<DynamicUse>& into) const {
    into.clear();
    if (counted_ && counted_->rules().history) {
        counted_->use(now, into);
    }
}

}  // namespace weir::priority
