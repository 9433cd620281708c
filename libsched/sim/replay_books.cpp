// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see replay_books.hpp.
#include "libsched/sim/replay_books.hpp"

#include <algorithm>
#include <array>

#include "libfairshare/tree/share_tree_diff.hpp"
#include "libsched/config/usage_settings.hpp"

namespace weir {
namespace {

/// A job's CPU time is its run time on every core: a log knows no better.
LsfHistorySettings history_settings(const PolicySettings& settings) {
    LsfHistorySettings history = settings.lsf.history;
    history.measures_cpu = false;
    return history;
}

LsfJob lsf_job(const SimJob& job) {
    return {job.cores, 0, job.limit};
}

bool is_plain_fair_tree(const Algorithm& algorithm) {
    return std::holds_alternative<FairTree>(algorithm);
}

template <typename Entries>
auto& entry_of(Entries& entries, JobId id) {
    if (id.value >= entries.size()) {
        entries.resize(id.value + 1);
    }
    return entries[id.value];
}

}  // namespace

// ---- LSF ----

LsfBook::LsfBook(BookSettings settings)
    : shares_(std::move(settings.shares)),
      version_(shares_.version()),
      tree_(shares_.tree()),
      history_(tree_->size(), history_settings(settings.site)) {}

LsfBook::Party LsfBook::enter(const SimJob& job, JobId id) {
    const Party party = shares_.party(job);
    if (shares_.version() != version_) {
        version_ = shares_.version();
        history_.rebind(match_nodes(*tree_, *shares_.tree()), shares_.tree()->size());
        tree_ = shares_.tree();
    }
    entry_of(entries_, id) = {party, {}};
    return party;
}

order::Holder LsfBook::started(const SimJob& job, JobId id, Instant now) {
    Entry& entry = entries_[id.value];
    entry.started = now;
    if (const NodeId leaf = shares_.leaf(entry.party); leaf != unassociated) {
        history_.start(leaf, lsf_job(job), now);
    }
    return {.payer = entry.party, .cores = job.cores};
}

order::Holder LsfBook::ended(const SimJob& job, JobId id, Instant now) {
    const Entry& entry = entries_[id.value];
    if (const NodeId leaf = shares_.leaf(entry.party); leaf != unassociated) {
        history_.end(leaf, lsf_job(job), entry.started, now);
    }
    return {.payer = entry.party, .cores = job.cores};
}

order::Use LsfBook::use(Instant now, bool, Duration) {
    history_.snapshot(*tree_, now, use_);
    order::Use use;
    use.tree = tree_.get();
    use.leaves = shares_.leaves();
    use.dynamic = use_;
    return use;
}

// ---- credentials ----

CredentialBook::Kind::Kind(const PolicySettings& site) : members(LogShares::of_users()), usage(site, members.tree()) {}

CredentialBook::CredentialBook(BookSettings settings)
    : names_(std::move(settings.names)),
      kinds_{Kind(settings.site), Kind(settings.site), Kind(settings.site), Kind(settings.site), Kind(settings.site)} {}

std::vector<std::string> CredentialBook::names_of(std::size_t kind, const SimJob& job) const {
    if (kind == class_kind) {
        return {names_.queues.of(job)};
    }
    return kind == user_kind ? names_.of_user(job) : names_.of_account(job);
}

void CredentialBook::meet(std::size_t kind, order::Credential who, Instant now) {
    Kind& one = kinds_[kind];
    SimJob credential;
    credential.user = who;
    const std::uint64_t version = one.members.version();
    const LogShares::Party party = one.members.party(credential);
    WEIR_CHECK(party == who);
    if (one.members.version() != version) {
        one.usage.follow(one.members.tree(), now);
    }
    one.known = std::max<std::size_t>(one.known, party + 1);
}

void CredentialBook::keep(JobId id, const Who& who) {
    entry_of(who_, id) = who;
}

order::Holder CredentialBook::charge(const SimJob& job, JobId id, std::int64_t cores, Instant now) {
    const Who& who = who_[id.value];
    for (std::size_t kind = 0; kind < moab_credential_kinds; kind++) {
        if (kind != qos_kind && kinds_[kind].is_counted) {
            kinds_[kind].usage.start(kinds_[kind].members.leaf(who[kind]), cores, now);
        }
    }
    return {.user = who[0], .cores = job.cores};
}

order::Use CredentialBook::use(Instant now, bool, Duration) {
    for (std::size_t i = 0; i < moab_credential_kinds; i++) {
        Kind& kind = kinds_[i];
        if (!kind.is_counted) {
            continue;
        }
        kind.usage.snapshot(now, kind.snapshot);
        usage_[i].all = kind.snapshot[root_node.value];
        usage_[i].by.resize(kind.known);
        for (LogShares::Party party = 0; party < kind.known; party++) {
            usage_[i].by[party] = kind.snapshot[kind.members.leaf(party).value];
        }
    }
    order::Use use;
    use.credentials = &usage_;
    return use;
}

// ---- fair-share factors ----

FactorBook::FactorBook(BookSettings settings)
    : settings_(settings.site),
      algorithm_(algorithm_named(settings_.algorithm).value()),
      machine_cores_(settings.machine_cores),
      shares_(std::move(settings.shares)),
      queues_(std::move(settings.names.queues)),
      version_(shares_.version()),
      usage_(settings_, shares_.tree(), has_billing(settings_) ? billing_unit : 1),
      keeps_order_(shares_.is_flat() && is_plain_fair_tree(algorithm_) && settings_.decay != DecayKind::window &&
                   settings_.usage_reset == ResetPeriod::none) {}

void FactorBook::follow_tree(Instant now) {
    if (shares_.version() != version_) {
        version_ = shares_.version();
        usage_.follow(shares_.tree(), now);
    }
}

FactorBook::Party FactorBook::enter(const SimJob& job, JobId id, Instant now) {
    const Party party = shares_.party(job);
    if (party == parties_.size()) {
        follow_tree(now);
        parties_.emplace_back();
        factors_.push_back(0.);
        if (keeps_order_) {
            order_.add();
        }
        evaluated_.reset();  // a new member changes everybody's part
    }
    entry_of(entries_, id) = {party, {}};
    parties_[party].wanted += job.cores;
    return party;
}

double FactorBook::priority_of(Party party) const {
    const NodeId leaf = shares_.leaf(party);
    return leaf == unassociated ? 0. : association_priority(settings_, *shares_.tree(), leaf);
}

ChargedJob FactorBook::charged(const SimJob& job, const Entry& entry) const {
    ChargedJob made{shares_.leaf(entry.party), static_cast<std::int64_t>(job.cores), entry.started, {}};
    if (has_billing(settings_)) {
        const std::array<ResourceAmount, 2> amounts{
            {{"cpu", static_cast<double>(job.cores)}, {"node", static_cast<double>(job.cores)}}};
        made.rate = billed_rate(settings_.billing, amounts, "", queues_.of(job));
    }
    if (settings_.billing.charging == Charging::at_dispatch) {
        made.requested = job.limit;
    }
    return made;
}

order::Holder FactorBook::charge(const SimJob& job, Party party, std::int64_t cores) {
    PartyState& owner = parties_[party];
    owner.running += cores;
    if (!owner.is_moving) {
        owner.is_moving = true;
        moving_.push_back(party);
    }
    return {.payer = party, .cores = job.cores};
}

order::Holder FactorBook::started(const SimJob& job, JobId id, Instant now) {
    Entry& entry = entries_[id.value];
    entry.started = now;
    parties_[entry.party].wanted -= job.cores;
    usage_.start(charged(job, entry));
    return charge(job, entry.party, job.cores);
}

order::Holder FactorBook::ended(const SimJob& job, JobId id, Instant now) {
    const Entry& entry = entries_[id.value];
    usage_.end(charged(job, entry), now);
    return charge(job, entry.party, -static_cast<std::int64_t>(job.cores));
}

order::Use FactorBook::use(Instant now, bool is_full, Duration interval) {
    if (settings_.weights.fairshare > 0 && evaluated_ != now &&
        (is_full || order::is_stale(evaluated_, now, interval))) {
        evaluate(now);
    }
    order::Use use;
    use.tree = shares_.tree().get();
    use.leaves = shares_.leaves();
    use.factors = factors_;
    use.moved = &moved_factor_;
    return use;
}

void FactorBook::told(bool is_full) {
    if (is_full) {
        moved_factor_.clear();
    }
}

void FactorBook::evaluate(Instant now) {
    evaluations_++;
    evaluated_ = now;
    if (keeps_order_) {
        evaluate_order(now);
    } else {
        evaluate_tree(now);
    }
    std::erase_if(moving_, [this](Party party) {
        PartyState& state = parties_[party];
        state.is_moving = state.running > 0;
        return !state.is_moving;
    });
}

void FactorBook::evaluate_order(Instant now) {
    const UsageLedger::AtInstant at = usage_.ledger(now)->at(now);
    const std::size_t first = moved_factor_.size();
    order_.update(
        moving_, [&](Party party) { return at.usage(shares_.leaf(party)); }, moved_factor_);
    for (std::size_t i = first; i < moved_factor_.size(); i++) {
        factors_[moved_factor_[i]] = order_.factor(moved_factor_[i]);
    }
}

void FactorBook::evaluate_tree(Instant now) {
    usage_.snapshot(now, snapshot_);
    Measures measures{snapshot_};
    if (std::holds_alternative<DemandCapped>(algorithm_)) {
        demand_.assign(snapshot_.size(), 0);
        for (Party party = 0; party < parties_.size(); party++) {
            if (const NodeId leaf = shares_.leaf(party); leaf != unassociated) {
                demand_[leaf.value] += static_cast<std::uint64_t>(parties_[party].running + parties_[party].wanted);
            }
        }
        measures.demand = demand_;
        measures.capacity = machine_cores_;
    }
    weir::evaluate(algorithm_, *shares_.tree(), measures, standings_);
    for (Party party = 0; party < parties_.size(); party++) {
        const NodeId leaf = shares_.leaf(party);
        const double factor = leaf == unassociated ? 0. : standings_.factor[leaf.value];
        if (factor != factors_[party]) {
            factors_[party] = factor;
            moved_factor_.push_back(party);
        }
    }
}

}  // namespace weir
