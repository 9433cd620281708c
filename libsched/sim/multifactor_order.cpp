// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see multifactor_order.hpp.
#include "libsched/sim/multifactor_order.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "libsched/config/usage_settings.hpp"

namespace weir {
namespace {

constexpr std::int64_t evaluations_per_interval = 30;  // as job-priority

/// A log's processors are its nodes, too: it knows no others.
MachineSize machine_of(std::uint32_t cores) {
    return {cores, cores, 0., 0.};
}

bool is_plain_fair_tree(const Algorithm& algorithm) {
    return std::holds_alternative<FairTree>(algorithm);
}

}  // namespace

MultifactorOrder::MultifactorOrder(const PolicySettings& settings, std::uint32_t machine_cores, LogShares shares,
                                   SiteValuesPtr site)
    : interval_(settings.update_interval),
      ages_(settings.weights.wait > 0),
      counts_shares_(settings.weights.fairshare > 0),
      algorithm_(algorithm_named(settings.algorithm).value()),
      machine_cores_(machine_cores),
      queue_index_(settings.queues, queue_classes_max),
      settings_(settings),
      site_(std::move(site)),
      has_extras_(settings.size_rule != SizeRule::cores || !settings.resources.empty() || site_),
      shares_(std::move(shares)),
      shares_version_(shares_.version()),
      usage_(settings, shares_.tree(), has_billing(settings) ? billing_unit : 1),
      engine_(engine_settings(settings, machine_of(machine_cores))),
      keeps_order_(shares_.is_flat() && is_plain_fair_tree(algorithm_) && settings.decay != DecayKind::window &&
                   settings.usage_reset == ResetPeriod::none) {}

void MultifactorOrder::follow_tree(Instant now) {
    if (shares_.version() != shares_version_) {
        shares_version_ = shares_.version();
        usage_.follow(shares_.tree(), now);
    }
}

MultifactorOrder::Party MultifactorOrder::party_of(const SimJob& job, Instant now) {
    const Party party = shares_.party(job);
    if (party == parties_.size()) {
        follow_tree(now);
        parties_.emplace_back();
        factors_.push_back(0.);
        if (keeps_order_) {
            order_.add();
        }
        evaluated_.reset();  // a new member changes all entitlements
        if (!settings_.associations.empty()) {
            const NodeId leaf = shares_.leaf(party);
            PrioritySettings engine = engine_.settings();
            engine.association_priority.push_back(
                leaf == unassociated ? 0. : association_priority(settings_, *shares_.tree(), leaf));
            engine_.configure(std::move(engine));
        }
    }
    return party;
}

JobExtras MultifactorOrder::extras_of(const SimJob& job) const {
    JobExtras extras;
    extras.nodes = job.cores;
    extras.limit = std::max<Duration>(job.limit, std::chrono::seconds(1));
    extras.site = site_ ? site_->of(job.number) : 0.;
    extras.resources = resource_amounts(settings_, [&](const std::string& name) {
        return name == "cores" || name == "nodes" ? static_cast<double>(job.cores) : 0.;
    });
    return extras;
}

void MultifactorOrder::submitted(const SimJob& job, JobId id, Instant now) {
    const Party party = party_of(job, now);
    JobInputs inputs;
    inputs.id = id;
    inputs.submit = job.submit;
    inputs.eligible = job.submit + settings_.wait_after.of(job.limit);
    inputs.association = party;
    inputs.cores = job.cores;
    inputs.queue = static_cast<std::uint16_t>(queue_index_.of(std::to_string(job.queue)));
    if (has_extras_) {
        inputs.extras = extras_of(job);
    }
    if (id.value >= places_.size()) {
        places_.resize(id.value + 1);
    }
    const auto number = static_cast<std::uint32_t>(id.value);
    PartyState& owner = parties_[party];
    places_[number] = {engine_.insert(inputs), party, static_cast<std::uint32_t>(owner.waiting.size())};
    owner.waiting.push_back(number);
    owner.wanted += job.cores;
    fresh_.push_back(number);
}

ChargedJob MultifactorOrder::charged(const SimJob& job, Party party, Instant started) const {
    ChargedJob made{shares_.leaf(party), static_cast<std::int64_t>(job.cores), started, {}};
    if (has_billing(settings_)) {
        const std::array<ResourceAmount, 2> amounts{
            {{"cpu", static_cast<double>(job.cores)}, {"node", static_cast<double>(job.cores)}}};
        made.rate = billed_rate(settings_.billing, amounts, "", std::to_string(job.queue));
    }
    if (settings_.billing.charging == Charging::at_dispatch) {
        made.requested = job.limit;
    }
    return made;
}

/// Its usage changed, by `cores` more or fewer that run.
void MultifactorOrder::charge(Party party, std::int64_t cores) {
    PartyState& owner = parties_[party];
    owner.running += cores;
    marked_.push_back(party);
    if (!owner.is_moving) {
        owner.is_moving = true;
        moving_.push_back(party);
    }
}

void MultifactorOrder::started(const SimJob& job, JobId id, Instant now) {
    Place& place = places_[id.value];
    place.started = now;
    std::vector<std::uint32_t>& waiting = parties_[place.party].waiting;
    places_[waiting.back()].index = place.index;
    waiting[place.index] = waiting.back();
    waiting.pop_back();
    parties_[place.party].wanted -= job.cores;
    engine_.remove(place.slot);
    std::erase(fresh_, static_cast<std::uint32_t>(id.value));  // started unjudged: only without a pass before
    usage_.start(charged(job, place.party, now));
    charge(place.party, job.cores);
}

void MultifactorOrder::ended(const SimJob& job, JobId id, Instant now) {
    const Place& place = places_[id.value];
    usage_.end(charged(job, place.party, place.started), now);
    charge(place.party, -static_cast<std::int64_t>(job.cores));
}

void MultifactorOrder::evaluate(Instant now) {
    if (!counts_shares_ || evaluated_ == now) {
        return;
    }
    counts_.evaluations++;
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

void MultifactorOrder::evaluate_order(Instant now) {
    const UsageLedger::AtInstant at = usage_.ledger(now)->at(now);
    const std::size_t first = moved_factor_.size();
    order_.update(
        moving_, [&](Party party) { return at.usage(shares_.leaf(party)); }, moved_factor_);
    for (std::size_t i = first; i < moved_factor_.size(); i++) {
        factors_[moved_factor_[i]] = order_.factor(moved_factor_[i]);
    }
}

void MultifactorOrder::evaluate_tree(Instant now) {
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

void MultifactorOrder::judge(std::uint32_t id, Instant now) {
    counts_.judged++;
    engine_.pass_one(places_[id].slot, now, factors_, changes_);
}

void MultifactorOrder::hand_over(std::vector<std::pair<JobId, std::uint32_t>>& changed) {
    counts_.changed += changes_.size();
    for (const PriorityEngine::Change& change : changes_) {
        changed.emplace_back(change.id, change.priority);
    }
}

void MultifactorOrder::prioritize(Instant now, std::vector<std::pair<JobId, std::uint32_t>>& changed) {
    changes_.clear();
    const bool is_full = now >= next_full_;
    if (is_full || !evaluated_ || now - *evaluated_ >= interval_ / evaluations_per_interval) {
        evaluate(now);
    }
    if (is_full) {
        counts_.full_passes++;
        next_full_ = now + interval_;
    }
    if (is_full && ages_) {
        counts_.judged += engine_.size();
        engine_.pass(now, factors_, changes_);
    } else {
        for (const Party party : is_full ? moved_factor_ : marked_) {
            for (const std::uint32_t id : parties_[party].waiting) {
                judge(id, now);
            }
        }
        for (const std::uint32_t id : fresh_) {
            judge(id, now);
        }
    }
    if (is_full) {
        moved_factor_.clear();
    }
    marked_.clear();
    fresh_.clear();
    hand_over(changed);
}

}  // namespace weir
