// SPDX-License-Identifier: LGPL-3.0-only
// Owns: usage by payer, in two ledgers. See ledgers.hpp.
#include "modules/job-priority/charges/ledgers.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "libfairshare/tree/share_tree_diff.hpp"
#include "modules/job-priority/charges/usage_hours.hpp"

namespace weir::priority {
namespace {

void post_to(UsageLedger& ledger, NodeId payer, std::int64_t rate, Instant at) {
    if (rate > 0) {
        ledger.start(payer, rate, at);
    } else if (rate < 0) {
        ledger.end(payer, -rate, at);
    }
}

}  // namespace

std::optional<std::pair<std::string, std::string>> account_and_user(const std::string& path) {
    const std::size_t at = path.rfind("/@");
    if (at == std::string::npos) {
        return std::nullopt;
    }
    return std::make_pair(path.substr(0, at), path.substr(at + 2));
}

Ledgers::Ledgers(StateLog& log, ShareTreePtr tree, const Counting& counting)
    : log_(&log), core_seconds_(std::move(tree), counting.half_life) {
    if (counting.rules) {
        counted_.emplace(tree_ptr(), *counting.rules);
    }
}

Result<Ledgers> Ledgers::restore(StateLog& log, ShareTreePtr tree, const SavedState& saved) {
    Ledgers ledgers(log, tree, {});
    if (saved.ledger.half_life != Duration{} || !saved.ledger.payers.empty()) {
        Result<UsageLedger> core_seconds = UsageLedger::restore(tree, saved.ledger);
        if (!core_seconds) {
            return core_seconds.error();
        }
        ledgers.core_seconds_ = std::move(*core_seconds);
    }
    for (const ChargeRow& charge : saved.charges) {
        post_to(ledgers.core_seconds_, payer_at(*tree, charge.path), charge.rate, charge.time);
    }
    ledgers.reset_from_ = std::max(saved.ledger.since, saved.meta.position);
    if (const Status restored = ledgers.restore_counted(saved); !restored) {
        return restored.error();
    }
    return ledgers;
}

Status Ledgers::restore_counted(const SavedState& saved) {
    if (saved.counted.rules.empty()) {
        return Done{};
    }
    Result<CountedUsage> counted = CountedUsage::restore(tree_ptr(), saved.counted);
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

// ---- charges ----

void Ledgers::post(NodeId payer, std::int64_t rate, Instant at) {
    const std::int64_t frame = core_seconds_.frame();
    post_to(core_seconds_, payer, rate, at);
    log_->mark_payer(payer);
    checkpoint_after(frame);
}

/// Someone else pays from `at` on.
void Ledgers::move(NodeId from, NodeId to, std::int64_t rate, Instant at) {
    const std::int64_t frame = core_seconds_.frame();
    core_seconds_.move(from, to, rate, at);
    log_->mark_payer(from);
    log_->mark_payer(to);
    checkpoint_after(frame);
}

/// When the frame moved on, the numbers of every payer changed.
void Ledgers::checkpoint_after(std::int64_t frame) {
    if (core_seconds_.frame() != frame) {
        log_->want_checkpoint();
    }
}

void Ledgers::count_start(const CountedJob& job) {
    if (counted_) {
        counted_->start(job);
        log_->add_counted({payer_path(tree(), job.charge.payer), job, {}});
    }
}

void Ledgers::count_end(const CountedJob& job, Instant at) {
    if (counted_) {
        counted_->end(job, at);
        log_->add_counted({payer_path(tree(), job.charge.payer), job, at});
    }
}

CountedJob Ledgers::counted(const RunningJob& job) {
    return {{job.payer, job.bill.rate, job.start, job.bill.prepaid}, {job.cores, job.bill.gpus, job.bill.committed}};
}

CountedJob Ledgers::counted_lent(const RunningJob& from, const RunningJob& inner) {
    return {{from.payer, -from.rate_of(inner.cores), inner.start, {}}, {-inner.cores, 0, {}}};
}

void Ledgers::open(const RunningJob& job) {
    post(job.payer, job.cores, job.start);
    count_start(counted(job));
}

void Ledgers::close(const RunningJob& job, Instant at) {
    post(job.payer, -job.cores, at);
    book(job, job.cores, job.start, at);
    count_end(counted(job), at);
}

void Ledgers::open_inside(const RunningJob& from, const RunningJob& inner) {
    move(from.payer, inner.payer, inner.cores, inner.start);
    count_start(counted_lent(from, inner));
    count_start(counted(inner));
}

void Ledgers::close_inside(const RunningJob& from, const RunningJob& inner, Instant at) {
    move(inner.payer, from.payer, inner.cores, at);
    book(from, -inner.cores, inner.start, at);
    book(inner, inner.cores, inner.start, at);
    count_end(counted_lent(from, inner), at);
    count_end(counted(inner), at);
}

void Ledgers::pay(const RunningJob& job, std::int64_t cores, std::int64_t rate, Instant from, Instant to) {
    if (to <= from || cores == 0) {
        return;
    }
    post(job.payer, std::abs(cores), cores > 0 ? from : to);  // first the additions: no payer's usage becomes negative
    post(job.payer, -std::abs(cores), cores > 0 ? to : from);
    book(job, cores, from, to);
    const CountedJob counted{{job.payer, rate, from, {}}, {cores, 0, {}}};
    count_start(counted);
    count_end(counted, to);
}

/// A charge that ended is added to its hours. A running one is in the row of its job, and in no hour.
void Ledgers::book(const RunningJob& job, std::int64_t cores, Instant from, Instant to) {
    for_each_hour({cores, from, to}, [&](std::int64_t hour, std::int64_t core_us) {
        log_->add_usage({hour, job.payer, job.bill.queue, job.bill.project}, core_us);
    });
}

// ---- the tree ----

NodeId Ledgers::admit(const Association& association, const std::string& user) {
    if (association.leaf) {
        return *association.leaf;
    }
    auto grown = tree().with_member(association.account, user);
    if (!grown) {
        return unassociated;
    }
    const NodeId leaf = grown->second;
    extend(std::move(grown->first));
    return leaf;
}

void Ledgers::admit(const std::vector<std::pair<NodeId, std::string>>& members) {
    if (!members.empty()) {
        extend(tree().with_members(members));
    }
}

void Ledgers::extend(ShareTree grown) {
    core_seconds_.extend(std::make_shared<const ShareTree>(std::move(grown)));
    if (counted_) {
        counted_->extend(tree_ptr());
    }
}

/// A restart admits the same users, since the checkpoint has their paths.
ShareTree Ledgers::with_members(const ShareTree& lines) const {
    std::vector<std::pair<NodeId, std::string>> users;
    const std::vector<NodeId> accounts = match_nodes(tree(), lines);
    for (std::uint32_t index = 1; index < tree().size(); ++index) {
        const NodeId member{index};
        if (!tree().is_materialised(member)) {
            continue;
        }
        if (const NodeId account = accounts[tree().parent(member).value]; account != unassociated) {
            users.emplace_back(account, tree().name(member));
        }
    }
    const ShareTree next = lines.with_members(users);
    // Matched again, now that members are found below their accounts: only who has no place is looked at.
    const std::vector<NodeId> places = match_nodes(tree(), next);
    users.clear();
    for (const PayerState& payer : core_seconds_.save().payers) {
        const auto parts = account_and_user(payer.path);
        const auto leaf = parts ? tree().find(payer.path) : std::nullopt;
        if (!parts || (leaf && places[leaf->value] != unassociated)) {
            continue;
        }
        const NodeId account = leaf ? places[tree().parent(*leaf).value]
                                    : next.find(parts->first).value_or(unassociated);  // an edit removed him before
        if (account != unassociated) {
            users.emplace_back(account, parts->second);
        }
    }
    return next.with_members(users);
}

std::vector<NodeId> Ledgers::rebind(ShareTreePtr tree, Instant at) {
    std::vector<NodeId> moved = core_seconds_.rebind(std::move(tree), at);
    if (counted_) {
        counted_->rebind(tree_ptr(), at);
    }
    return moved;
}

/// What nobody pays for since the payer's leaf was removed.
void Ledgers::move_from_nobody(NodeId payer, std::int64_t rate, Instant at) {
    post_to(core_seconds_, unassociated, -rate, at);
    post_to(core_seconds_, payer, rate, at);
}

void Ledgers::charge_returned(const RunningJob& job, Instant at) {
    move_from_nobody(job.payer, job.cores, at);
    if (counted_) {
        counted_->take_back(counted(job), at);
    }
}

void Ledgers::lend_returned(const RunningJob& from, const RunningJob& inner, Instant at) {
    move_from_nobody(from.payer, -inner.cores, at);
    if (counted_) {
        counted_->take_back(counted_lent(from, inner), at);
    }
}

// ---- how usage is counted ----

void Ledgers::configure(const Counting& counting, std::span<const CountedJob> running, Instant at) {
    if (core_seconds_.half_life() != counting.half_life) {
        core_seconds_.set_half_life(counting.half_life, at);
        log_->want_checkpoint();
    }
    if (counted_ && counted_->settle_outside(running, at)) {
        log_->want_checkpoint();
    }
    if (counted_ ? counting.rules == counted_->rules() : !counting.rules) {
        return;
    }
    log_->want_checkpoint();
    if (!counting.rules) {
        counted_.reset();
    } else if (counted_) {
        counted_->set_rules(*counting.rules, running, at);
    } else {
        counted_.emplace(tree_ptr(), *counting.rules);
        counted_->take_over(core_seconds_, running, at);
    }
}

void Ledgers::reset_due(ResetPeriod period, Instant at, Duration utc_offset) {
    const Instant from = std::exchange(reset_from_, std::max(reset_from_, at));
    if (period == ResetPeriod::none || period == ResetPeriod::now) {
        return;
    }
    const std::optional<Instant> boundary = period_start(period, at, utc_offset);
    if (boundary && *boundary > from) {
        reset(*boundary);
    }
}

void Ledgers::reset(Instant at) {
    for (const NodeId payer : {root_node, unassociated, idle}) {
        was_reset_ = was_reset_ || core_seconds_.usage(payer, at) > 0;
    }
    core_seconds_.reset(at);
    if (counted_) {
        counted_->reset(at);
    }
    log_->want_checkpoint();
}

// ---- usage ----

void Ledgers::measure(Instant now, UsageSnapshot& into) const {
    if (counted_) {
        counted_->snapshot(now, into);
    } else {
        core_seconds_.snapshot(now, into);
    }
}

void Ledgers::measure_use(Instant now, std::vector<DynamicUse>& into) const {
    into.clear();
    if (counted_ && counted_->rules().history) {
        counted_->use(now, into);
    }
}

LedgerCheckpoint Ledgers::checkpoint() const {
    return {core_seconds_.save(), counted_ ? counted_->save() : CountedUsageState{}};
}

}  // namespace weir::priority
