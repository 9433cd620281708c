// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see policy_order.hpp.
#include "modules/job-priority/ranking/policy_order.hpp"

#include <algorithm>
#include <limits>

#include "libfairshare/tree/payer.hpp"

namespace weir::priority {
namespace {

/// By kind of credential.
enum : std::size_t { users, groups, accounts, qos, classes };

std::uint32_t cores_of(const BookJob& job) {
    return static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(job.request.cores, 0, std::numeric_limits<std::uint32_t>::max()));
}

/// The kind of credential whose usage a node of this kind keeps.
std::optional<std::size_t> credential_kind(NodeKind kind) {
    switch (kind) {
        case NodeKind::user:
            return users;
        case NodeKind::group:
            return groups;
        case NodeKind::account:
            return accounts;
        case NodeKind::qos:
            return qos;
        case NodeKind::queue:
            return classes;
        case NodeKind::any_member:
        case NodeKind::others:
            break;
    }
    return std::nullopt;
}

bool is_same_policy(const PolicySettings& a, const PolicySettings& b) {
    return a.policy == b.policy && a.queues == b.queues && a.lsf == b.lsf && a.moab == b.moab &&
           a.load_threshold == b.load_threshold;
}

double amount_of(const BookJob& job, const std::string& name) {
    const auto amount = job.request.amounts.find(name);
    return amount == job.request.amounts.end() ? 0. : amount->second;
}

constexpr int urgency_normal = 16;

LsfRanking::Job lsf_job(const BookJob& job, NodeId payer, double site) {
    return {.place = job.id,
            .payer = payer,
            .slots = std::max(cores_of(job), 1U),
            .limit = job.request.wall_time,
            .since = job.ageing.eligible(),
            .admin = site,
            .job_priority = static_cast<double>(job.urgency),
            .memory_mib = amount_of(job, "memory") * 1024};
}

}  // namespace

// ---- Moab's credentials ----

MoabPriorities::Credential PolicyOrder::Moab::credential(std::size_t kind, const std::string& name) {
    if (name.empty()) {
        return MoabPriorities::nobody;
    }
    const auto [entry, is_new] = known[kind].try_emplace(name, MoabPriorities::nobody);
    if (is_new) {
        const std::vector<std::string> names{name,
                                             name.substr(name.rfind('/') + 1)};  // an account may be called by both
        entry->second = priorities.add_credential(kind, names);
    }
    return entry->second;
}

// ---- the order ----

PolicyOrder::Policy PolicyOrder::made(const Settings& settings, const MachineSize& machine) {
    switch (settings.policy) {
        case PolicyKind::multifactor:
            break;
        case PolicyKind::fcfs:
            return Fcfs{};
        case PolicyKind::lsf:
            return LsfRanking(settings);
        case PolicyKind::moab:
            return Moab(settings, machine);
        case PolicyKind::load_threshold:
            return LoadThresholdPriorities(settings, machine.cores);
    }
    return Sum{};
}

PolicyOrder::PolicyOrder(const Settings& settings, const MachineSize& machine)
    : settings_(settings), policy_(made(settings, machine)) {}

bool PolicyOrder::configure(const Settings& settings, Instant at) {
    auto* load = std::get_if<LoadThresholdPriorities>(&policy_);
    const bool follows = load != nullptr && settings.policy == PolicyKind::load_threshold;
    if (follows) {
        load->configure(settings, at);
    } else if (!is_same_policy(settings, settings_)) {
        return false;
    }
    settings_ = settings;
    return true;
}

void PolicyOrder::enter(JobId slot, const BookJob& job, const JobOwner& owner, double site, Instant at) {
    if (auto* lsf = std::get_if<LsfRanking>(&policy_)) {
        LsfRanking::Job one = lsf_job(job, owner.payer, site);
        one.queue = lsf->queue(job.request.queue);
        lsf->put(slot, one);
    } else if (auto* moab = std::get_if<Moab>(&policy_)) {
        const bool has_limit = job.request.wall_time != Duration::max();
        moab->priorities.put(
            slot, {.who = {moab->credential(users, owner.user), moab->credential(groups, owner.group),
                           moab->credential(accounts, owner.account), moab->credential(qos, job.request.qos),
                           moab->credential(classes, job.request.queue)},
                   .place = job.id,
                   .since = job.ageing.eligible(),
                   .limit = has_limit ? job.request.wall_time : Duration{},
                   .cores = cores_of(job),
                   .nodes = static_cast<std::uint32_t>(
                       std::clamp<std::int64_t>(job.request.nodes, 1, std::numeric_limits<std::uint32_t>::max())),
                   .gpus = amount_of(job, "gpus"),
                   .memory_mib = amount_of(job, "memory") * 1024,
                   .user_priority = job.urgency - urgency_normal});
    } else if (auto* load = std::get_if<LoadThresholdPriorities>(&policy_)) {
        load->put(slot, job.request.queue, at);
    }
}

void PolicyOrder::put(JobId slot, const BookJob& job, const JobOwner& owner, double site, Instant at) {
    if (is_sum()) {
        return;
    }
    if (slot.value >= is_in_.size()) {
        is_in_.resize(slot.value + 1);
    }
    is_in_[slot.value] = !job.is_held() && !job.is_expedited();
    if (has(slot)) {
        enter(slot, job, owner, site, at);
        fresh_.insert(slot);
    } else if (auto* load = std::get_if<LoadThresholdPriorities>(&policy_)) {
        load->pause(slot, at);
        fresh_.erase(slot);
    } else if (auto* moab = std::get_if<Moab>(&policy_)) {
        moab->priorities.pause(slot);
        fresh_.erase(slot);
    } else {
        remove(slot, at);
    }
}

void PolicyOrder::remove(JobId slot, Instant at) {
    fresh_.erase(slot);
    if (slot.value < is_in_.size()) {
        is_in_[slot.value] = false;
    }
    if (auto* lsf = std::get_if<LsfRanking>(&policy_)) {
        lsf->remove(slot);
    } else if (auto* moab = std::get_if<Moab>(&policy_)) {
        moab->priorities.remove(slot);
    } else if (auto* load = std::get_if<LoadThresholdPriorities>(&policy_)) {
        load->remove(slot, at);
    }
}

void PolicyOrder::start(JobId slot, Instant at) {
    if (auto* moab = std::get_if<Moab>(&policy_); moab != nullptr && has(slot)) {
        moab->priorities.start(slot);
    }
    remove(slot, at);
}

void PolicyOrder::occupy(const Holder& holder, int sign, Instant at) {
    if (auto* load = std::get_if<LoadThresholdPriorities>(&policy_)) {
        load->use(sign * holder.cores, at);
    } else if (auto* moab = std::get_if<Moab>(&policy_)) {
        moab->priorities.hold(holder.user, sign, sign * holder.cores);
    }
}

void PolicyOrder::hold(FluxJobId id, std::int64_t cores, const std::string& user, Instant at) {
    auto* moab = std::get_if<Moab>(&policy_);
    const Holder holder{cores, moab != nullptr ? moab->credential(users, user) : MoabPriorities::nobody};
    if (holders_.try_emplace(id, holder).second) {
        occupy(holder, 1, at);
    }
}

void PolicyOrder::release(FluxJobId id, Instant at) {
    if (const auto holder = holders_.find(id); holder != holders_.end()) {
        occupy(holder->second, -1, at);
        holders_.erase(holder);
    }
}

void PolicyOrder::set_machine(const MachineSize& machine, Instant at) {
    if (auto* load = std::get_if<LoadThresholdPriorities>(&policy_)) {
        load->set_machine(machine.cores, at);
    } else if (auto* moab = std::get_if<Moab>(&policy_)) {
        moab->priorities.set_machine(machine);
    }
}

void PolicyOrder::measure(const ShareTree& tree, const Measured& measured) {
    auto* moab = std::get_if<Moab>(&policy_);
    if (moab == nullptr) {
        return;
    }
    for (MoabPriorities::Used& used : moab->usage) {
        used.by.clear();
        used.all = measured.usage.usage[root_node.value] + measured.usage.unassociated;
    }
    for (std::uint32_t index = 1; index < tree.size(); ++index) {
        const NodeId node{index};
        const auto kind = credential_kind(tree.kind(node));
        if (!kind || !moab->priorities.goes_by_usage(*kind)) {
            continue;
        }
        const MoabPriorities::Credential who =
            moab->credential(*kind, *kind == accounts ? tree.path(node) : std::string(tree.name(node)));
        auto& by = moab->usage[*kind].by;
        by.resize(std::max<std::size_t>(by.size(), who + 1));
        by[who] += measured.usage.usage[index];
    }
}

void PolicyOrder::prioritize(const ShareTree& tree, const Measured& measured, Instant now, Values& changed) {
    fresh_.clear();
    if (auto* lsf = std::get_if<LsfRanking>(&policy_)) {
        lsf->prioritize({tree, measured.dynamic}, now, changed);
    } else if (auto* moab = std::get_if<Moab>(&policy_)) {
        moab->priorities.prioritize(moab->usage, now, changed);
    } else if (auto* load = std::get_if<LoadThresholdPriorities>(&policy_)) {
        load->prioritize(now, changed);
    }
}

void PolicyOrder::prioritize_fresh(const ShareTree& tree, const Measured& measured, Instant now, Values& changed) {
    if (wants_fresh()) {
        return prioritize(tree, measured, now, changed);
    }
    for (const JobId slot : std::exchange(fresh_, {})) {
        if (auto* moab = std::get_if<Moab>(&policy_)) {
            changed.emplace_back(slot, moab->priorities.tell(slot, moab->usage, now));
        } else if (const auto* load = std::get_if<LoadThresholdPriorities>(&policy_)) {
            changed.emplace_back(slot, load->value(slot, now));
        }
    }
}

// ---- in words ----

OrderTerms PolicyOrder::explain(JobId slot, const ShareTree& tree, const Measured& measured, Instant now) const {
    if (const auto* lsf = std::get_if<LsfRanking>(&policy_)) {
        return lsf->explain(slot, {tree, measured.dynamic}, now);
    }
    if (const auto* moab = std::get_if<Moab>(&policy_)) {
        return moab->priorities.explain(slot, moab->usage, now);
    }
    if (const auto* load = std::get_if<LoadThresholdPriorities>(&policy_)) {
        return load->explain(slot, now);
    }
    OrderTerms terms;
    terms.words.emplace_back("Jobs start in order of submission (policy = \"fcfs\"): all have the same priority.");
    return terms;
}

std::string PolicyOrder::lead(JobId own, JobId other, const ShareTree& tree, const Measured& measured,
                              Instant now) const {
    if (const auto* lsf = std::get_if<LsfRanking>(&policy_)) {
        return lsf->lead(own, other, {tree, measured.dynamic}, now);
    }
    if (std::holds_alternative<Fcfs>(policy_)) {
        return "it was submitted earlier";
    }
    if (const std::string cap = capped_by(own); !cap.empty()) {
        return "this job waits until its cap allows it (moab." + cap + ")";
    }
    const std::string what = std::holds_alternative<Moab>(policy_) ? "its sum" : "P, before its threshold,";
    return order_lead(what, explain(own, tree, measured, now), explain(other, tree, measured, now));
}

std::optional<Course> PolicyOrder::course(JobId slot, const ShareTree& tree, const Measured& measured) const {
    if (const auto* lsf = std::get_if<LsfRanking>(&policy_)) {
        return lsf->course(slot, {tree, measured.dynamic});
    }
    if (const auto* moab = std::get_if<Moab>(&policy_)) {
        return moab->priorities.course(slot, moab->usage);
    }
    if (const auto* load = std::get_if<LoadThresholdPriorities>(&policy_)) {
        return load->course(slot);
    }
    return std::nullopt;
}

std::string PolicyOrder::capped_by(JobId slot) const {
    const auto* moab = std::get_if<Moab>(&policy_);
    return moab != nullptr && has(slot) ? moab->priorities.capped_by(slot, moab->usage) : std::string();
}

std::vector<std::string> policy_order_warnings(const Settings& settings, const ShareTree& tree) {
    std::vector<std::string> out;
    if (settings.policy != PolicyKind::moab) {
        return out;
    }
    std::set<std::size_t> kept;
    for (std::uint32_t index = 1; index < tree.size(); ++index) {
        if (const auto kind = credential_kind(tree.kind(NodeId{index}))) {
            kept.insert(*kind);
        } else {
            kept.insert(users);  // @*: each who enters is one
        }
    }
    const std::array<const char*, moab_credential_kinds> nodes{"@user", "group:NAME", "account", "qos:NAME",
                                                               "queue:NAME"};
    for (std::size_t kind = 0; kind < moab_credential_kinds; kind++) {
        const auto& named = settings.moab.credentials[kind];
        const bool counts = std::any_of(named.begin(), named.end(), [](const auto& entry) {
            return entry.second.target.has_value() || entry.second.cap.has_value();
        });
        if (counts && kept.count(kind) == 0) {
            out.push_back("targets and caps in [weir.moab." + std::string(moab_credential_names[kind]) +
                          "] count no usage: the share tree has no " + nodes[kind] + " node that keeps it");
        }
    }
    return out;
}

}  // namespace weir::priority
