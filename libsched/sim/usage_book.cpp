// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see usage_book.hpp.
#include "libsched/sim/usage_book.hpp"

#include <utility>

#include "libsched/config/usage_settings.hpp"

namespace weir {

UsageBook::UsageBook(const PolicySettings& settings, ShareTreePtr tree, std::int64_t unit)
    : kept_(std::move(tree), usage_rules(settings, unit)), reset_(settings.usage_reset) {}

void UsageBook::start(const ChargedJob& job) {
    reset_if_due(job.started);
    kept_.start({job});
}

void UsageBook::end(const ChargedJob& job, Instant ended) {
    reset_if_due(ended);
    kept_.end({job}, ended);
}

/// Resets lie before whatever comes at or after them: the calendar is asked before each event and each reading.
void UsageBook::reset_if_due(Instant now) {
    if (reset_ == ResetPeriod::none || kept_.ledger() == nullptr) {
        return;
    }
    if (!next_reset_) {
        next_reset_ = next_reset(reset_, now).value_or(never);
    }
    if (now >= *next_reset_) {
        kept_.reset(*period_start(reset_, now));
        next_reset_ = next_reset(reset_, now);
    }
}

void UsageBook::snapshot(Instant now, std::vector<CoreMicros>& into) {
    reset_if_due(now);
    std::swap(into, snapshot_.usage);
    kept_.snapshot(now, snapshot_);
    std::swap(into, snapshot_.usage);
}

const UsageLedger* UsageBook::ledger(Instant now) {
    reset_if_due(now);
    return kept_.ledger();
}

void UsageBook::follow(ShareTreePtr tree, Instant at) {
    if (tree->extends(kept_.tree())) {
        kept_.extend(std::move(tree));
    } else {
        kept_.rebind(std::move(tree), at);
    }
}

}  // namespace weir
