// SPDX-License-Identifier: LGPL-3.0-only
// Owns: when the engine and the policy get which inputs. See ranking.hpp.
#include "modules/job-priority/ranking/ranking.hpp"

#include <algorithm>

#include "libfairshare/tree/payer.hpp"

namespace weir::priority {
namespace {

std::uint32_t machine_from(const BookJob& job) {
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(job.request->cores, 1, 0xffffffffLL));
}

}  // namespace

Ranking::Ranking(const Settings& settings, UserNames& users, bool is_child)
    : settings_(settings),
      users_(users),
      shares_(settings, is_child),
      queue_(settings, MachineSize{}),
      order_(settings, MachineSize{}) {}

// ---- inputs of all priorities ----

bool Ranking::configure(const ShareTree& tree, Instant now) {
    shares_.configure();
    configure_queue(tree);
    queue_.renumber();
    return configure_order(now);
}

void Ranking::set_tree(const ShareTree& tree) {
    shares_.forget();
    uncounted_.clear();
    configure_queue(tree);
    queue_.renumber();
}

bool Ranking::set_machine(const ShareTree& tree, const MachineSize& machine) {
    if (is_machine_known_ && machine == machine_) {
        return false;
    }
    is_machine_known_ = true;
    machine_ = machine;
    machine_.cores = std::max(1U, machine.cores);
    order_.set_machine(machine_, time_);
    configure_queue(tree);
    return true;
}

void Ranking::take_parent_factors(const ShareTree& tree, const std::vector<FactorRow>& rows, bool is_complete) {
    shares_.take_parent_factors(rows, is_complete);
    configure_queue(tree);
    if (is_complete) {
        queue_.renumber();
    }
}

void Ranking::clear() {
    queue_.clear();
    order_ = PolicyOrder(settings_, machine_);
}

void Ranking::configure_queue(const ShareTree& tree) {
    // A parent's factors have the parent's indices, which do not fit our tree.
    queue_.configure(settings_, machine_,
                     shares_.are_parents() ? std::vector<double>{} : association_priorities(settings_, tree));
}

bool Ranking::configure_order(Instant now) {
    time_ = now;
    if (order_.configure(settings_, now)) {
        return false;
    }
    order_ = PolicyOrder(settings_, machine_);
    return true;
}

// ---- events ----

std::uint32_t Ranking::factor_index(const BookJob& job) const {
    if (!shares_.are_parents()) {
        return FairShares::index_of(job.payer);
    }
    if (job.factor_basis == factor_basis()) {
        return job.factor;
    }
    const std::uint32_t userid = job.charged_userid();
    return shares_.from_parent().index(userid, users_.name(userid), job.request->account);
}

JobOwner Ranking::owner_of(const ShareTree& tree, const BookJob& job) const {
    const std::uint32_t userid = job.charged_userid();
    JobOwner owner{job.payer, users_.name(userid), {}, job.request->account};
    if (settings_.policy == PolicyKind::moab) {
        const std::vector<std::string>& groups = users_.groups(userid);
        owner.group = groups.empty() ? std::string() : groups.front();
        owner.account = owner.payer == unassociated ? owner.account : tree.path(account_above(tree, owner.payer));
    }
    return owner;
}

void Ranking::put(const ShareTree& tree, const BookJob& job, double site, std::optional<std::uint32_t> from_above,
                  PutCause cause) {
    if (!is_machine_known_ && machine_from(job) > machine_.cores) {
        machine_.cores = machine_from(job);
        order_.set_machine(machine_, time_);
        configure_queue(tree);
    }
    const std::uint32_t factor = factor_index(job);
    if (!settings_.associations.empty() && factor >= queue_.engine().settings().association_priority.size()) {
        configure_queue(tree);  // a new member of the tree
    }
    queue_.put(job, factor, site, from_above, cause);
    if (!order_.is_sum()) {
        order_.put(JobId{queue_.find(job.id)->value}, job, owner_of(tree, job), site, time_);
    }
}

void Ranking::leave(FluxJobId id, bool is_start) {
    if (const PriorityEngine::Slot* slot = queue_.find(id)) {
        if (is_start) {
            order_.start(JobId{slot->value}, time_);
        }
        order_.remove(JobId{slot->value}, time_);
    }
    queue_.remove(id);
}

// ---- the pass ----

void Ranking::measure(const Accounting& accounting, Instant now, Measured& into) const {
    accounting.measure(now, into.usage);
    accounting.ledgers().measure_use(now, into.dynamic);
    into.capacity = is_machine_known_ ? machine_.cores : 0;
    into.demand.clear();
    if (std::holds_alternative<DemandCapped>(shares_.algorithm())) {
        measure_demand(accounting.ledger(), into);
    }
}

void Ranking::measure_demand(const UsageLedger& ledger, Measured& into) const {
    const ShareTree& tree = ledger.tree();
    into.demand.assign(tree.size(), 0);
    if (!shares_.are_parents()) {  // else the queue's indices are the parent's
        queue_.add_cores(into.demand);
    }
    for (std::uint32_t index = tree.size() - 1; index > 0 && index < tree.size(); --index) {
        if (tree.is_association(NodeId{index})) {
            into.demand[index] += static_cast<std::uint64_t>(std::max<std::int64_t>(0, ledger.rate(NodeId{index})));
        }
        into.demand[tree.parent(NodeId{index}).value] += into.demand[index];
    }
}

void Ranking::give_values(Pass pass, const ShareTree& tree, Instant now) {
    given_.clear();
    if (order_.is_sum()) {
        return;
    }
    if (pass == Pass::full) {
        order_.prioritize(tree, shares_.measured(), now, given_);
    } else {
        order_.prioritize_fresh(tree, shares_.measured(), now, given_);
    }
    for (const auto& [slot, value] : given_) {
        queue_.set_priority(PriorityEngine::Slot{static_cast<std::uint32_t>(slot.value)},
                            std::max(value, priority_min));
    }
}

/// Passes since the last evaluation have used up the marks of what they could not count.
void Ranking::evaluate_tree(const Accounting& accounting, Instant now) {
    const std::vector<double> before(factors().begin(), factors().end());
    measure(accounting, now, shares_.measured());
    shares_.evaluate(accounting.tree(), now);
    order_.measure(accounting.tree(), shares_.measured());
    queue_.mark_changed(before, factors());
    for (const std::uint32_t factor : std::exchange(uncounted_, {})) {
        queue_.mark_factor(factor);
    }
}

std::size_t Ranking::evaluate(Pass pass, const Accounting& accounting, Instant now, Pusher& pusher) {
    const ShareTree& tree = accounting.tree();
    if (pass == Pass::full || order_.wants_fresh() || shares_.is_stale(tree, now)) {
        evaluate_tree(accounting, now);
    }
    give_values(pass, tree, now);
    return pass == Pass::full ? queue_.pass(now, factors(), pusher) : queue_.pass_marked(now, factors(), pusher);
}

std::vector<std::pair<FluxJobId, bool>> Ranking::caps() const {
    std::vector<std::pair<FluxJobId, bool>> caps;
    caps.reserve(given_.size());
    for (const auto& [slot, value] : given_) {
        const PriorityEngine::Slot place{static_cast<std::uint32_t>(slot.value)};
        const FluxJobId id = queue_.engine().inputs(place).id.value;
        caps.emplace_back(id, value == priority_held && !queue_.is_from_above(id));
    }
    return caps;
}

std::uint64_t Ranking::fine_priority(FluxJobId id, Instant now) const {
    const PriorityEngine::Slot* slot = queue_.find(id);
    const std::int64_t fine = slot == nullptr ? 0 : queue_.engine().fine_priority(*slot, now, factors());
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, fine));
}

}  // namespace weir::priority
