// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see limited_order.hpp.
#include "libsched/sim/limited_order.hpp"

namespace weir {

LimitedOrder::LimitedOrder(const PolicySettings& settings, LogShares shares, std::unique_ptr<QueueOrder> inner)
    : shares_(std::move(shares)),
      version_(shares_.version()),
      usage_(settings, shares_.tree()),
      inner_(std::move(inner)) {
    WEIR_CHECK(settings.decay != DecayKind::window);
}

void LimitedOrder::submitted(const SimJob& job, JobId id, Instant now) {
    if (inner_) {
        inner_->submitted(job, id, now);
    }
    const NodeId payer = shares_.leaf(shares_.party(job));
    if (shares_.version() != version_) {
        version_ = shares_.version();
        usage_.follow(shares_.tree(), now);
    }
    if (id.value >= entries_.size()) {
        entries_.resize(id.value + 1);
    }
    entries_[id.value] = {submitted_++ << id_bits | id.value, payer, priority_min};
    if (!LimitCounts::never(tree(), payer, limited(job)) && !admission_.counts().submission(tree(), payer)) {
        admission_.wait(tree(), entries_[id.value].number, payer, limited(job));
    }
    fresh_.push_back(id);
}

void LimitedOrder::started(const SimJob& job, JobId id, Instant now) {
    const Entry& entry = entries_[id.value];
    admission_.start(tree(), entry.number, entry.payer, limited(job));
    usage_.start(entry.payer, job.cores, now);
    if (inner_) {
        inner_->started(job, id, now);
    }
}

void LimitedOrder::ended(const SimJob& job, JobId id, Instant now) {
    const Entry& entry = entries_[id.value];
    admission_.remove(tree(), entry.number);
    usage_.end(entry.payer, job.cores, now);
    if (inner_) {
        inner_->ended(job, id, now);
    }
}

void LimitedOrder::prioritize(Instant now, std::vector<std::pair<JobId, std::uint32_t>>& changed) {
    by_inner_.clear();
    if (inner_) {
        inner_->prioritize(now, by_inner_);
    }
    for (const auto& [id, priority] : by_inner_) {
        entries_[id.value].priority = priority;
    }
    const auto priority_of = [this](Admission::Id number) -> std::uint64_t {
        return entries_[number & ((1U << id_bits) - 1)].priority;
    };
    const UsageLedger& ledger = *usage_.ledger(now);
    const auto admitted = admission_.admit(tree(), ledger, now, priority_of);
    lets_go_ = admission_.usage_allows(tree(), ledger, now, usage_.resets_next()).value_or(never);
    for (const JobId id : fresh_) {
        changed.emplace_back(id, priority_held);
    }
    fresh_.clear();
    for (const Admission::Id number : admitted) {
        const JobId id{number & ((1U << id_bits) - 1)};
        changed.emplace_back(id, entries_[id.value].priority);
    }
    for (const auto& [id, priority] : by_inner_) {
        if (admission_.is_admitted(entries_[id.value].number)) {
            changed.emplace_back(id, priority);
        }
    }
}

}  // namespace weir
