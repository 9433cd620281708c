// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see policy_order.hpp.
#include "modules/job-priority/ranking/policy_order.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <set>

namespace weir::priority {
namespace {

/// By kind of credential.
enum : std::size_t { users, groups, accounts, qos, classes };

std::uint32_t counted(std::int64_t amount, std::int64_t least) {
    return static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(amount, least, std::numeric_limits<std::uint32_t>::max()));
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

double amount_of(const BookJob& job, const std::string& name) {
    const auto amount = job.request->amounts.find(name);
    return amount == job.request->amounts.end() ? 0. : amount->second;
}

}  // namespace

PolicyOrder::PolicyOrder(const Settings& settings, const MachineSize& machine)
    : order_(order::make_order(settings, machine)) {}

bool PolicyOrder::configure(const Settings& settings, Instant at) {
    return std::visit([&](auto& order) { return order.configure(settings, at); }, order_);
}

bool PolicyOrder::wants_fresh() const {
    return std::visit([](const auto& order) { return order.wants_fresh_use; }, order_);
}

// ---- jobs, credentials and nodes as an order gets them ----

order::Credential PolicyOrder::credential(std::size_t kind, const std::string& name) {
    return std::visit(
        [&]<typename O>(O& order) -> order::Credential {
            if constexpr (order::GoesByCredentials<O>) {
                if (!name.empty()) {  // an account may be called by its path or by its name
                    return order.credential(kind, {name, name.substr(name.rfind('/') + 1)});
                }
            }
            return order::nobody;
        },
        order_);
}

order::WaitingJob PolicyOrder::waiting(const BookJob& job, const JobOwner& owner, double site) {
    order::WaitingJob made;
    made.place = job.id;
    made.submit = job.first_submit;
    made.since = job.ageing.eligible();
    made.payer = owner.payer.value;
    made.cores = counted(job.request->cores, 0);
    made.nodes = counted(job.request->nodes, 1);
    made.gpus = amount_of(job, "gpus");
    made.memory_mib = amount_of(job, "memory") * 1024;
    made.limit = job.request->wall_time;
    made.urgency = job.urgency;
    made.site = site;
    made.queue = job.request->queue;
    made.qos = job.request->qos;
    made.who = {credential(users, owner.user), credential(groups, owner.group), credential(accounts, owner.account),
                credential(qos, job.request->qos), credential(classes, job.request->queue)};
    made.amounts = &job.request->amounts;
    return made;
}

order::Use PolicyOrder::use(const ShareTree& tree, const Measured& measured) const {
    order::Use made;
    made.tree = &tree;
    made.dynamic = measured.dynamic;
    made.credentials = &usage_;
    return made;
}

void PolicyOrder::measure(const ShareTree& tree, const Measured& measured) {
    const auto goes_by = [&](std::size_t kind) {
        return std::visit(
            [&]<typename O>(const O& order) {
                if constexpr (order::GoesByCredentials<O>) {
                    return order.goes_by_usage(kind);
                } else {
                    return false;
                }
            },
            order_);
    };
    for (MoabPriorities::Used& used : usage_) {
        used.by.clear();
        used.all = measured.usage.usage[root_node.value] + measured.usage.unassociated;
    }
    std::array<bool, moab_credential_kinds> is_counted{};
    for (std::size_t kind = 0; kind < moab_credential_kinds; kind++) {
        is_counted[kind] = goes_by(kind);
    }
    if (std::none_of(is_counted.begin(), is_counted.end(), [](bool counts) { return counts; })) {
        return;
    }
    for (std::uint32_t index = 1; index < tree.size(); ++index) {
        const NodeId node{index};
        const auto kind = credential_kind(tree.kind(node));
        if (!kind || !is_counted[*kind]) {
            continue;
        }
        const order::Credential who =
            credential(*kind, *kind == accounts ? tree.path(node) : std::string(tree.name(node)));
        auto& by = usage_[*kind].by;
        by.resize(std::max<std::size_t>(by.size(), who + 1));
        by[who] += measured.usage.usage[index];
    }
}

// ---- events ----

void PolicyOrder::put(JobId slot, const BookJob& job, const JobOwner& owner, double site, Instant at) {
    if (is_sum()) {
        return;
    }
    if (slot.value >= is_in_.size()) {
        is_in_.resize(slot.value + 1);
    }
    is_in_[slot.value] = !job.is_held() && !job.is_expedited();
    if (!has(slot)) {
        std::visit([&](auto& order) { order.pause(slot, at); }, order_);
        return;
    }
    const order::WaitingJob made = waiting(job, owner, site);
    std::visit([&](auto& order) { order.put(slot, made, at); }, order_);
}

void PolicyOrder::remove(JobId slot, Instant at) {
    if (slot.value < is_in_.size()) {
        is_in_[slot.value] = false;
    }
    std::visit([&](auto& order) { order.remove(slot, at); }, order_);
}

void PolicyOrder::start(JobId slot, Instant at) {
    if (has(slot)) {
        std::visit([&](auto& order) { order.started(slot, {}, at); }, order_);
    }
    remove(slot, at);
}

void PolicyOrder::hold(FluxJobId id, std::int64_t cores, const std::string& user, Instant at) {
    const order::Holder holder{.payer = order::nobody, .user = credential(users, user), .cores = cores};
    if (holders_.try_emplace(id, holder).second) {
        std::visit([&](auto& order) { order.started(std::nullopt, holder, at); }, order_);
    }
}

void PolicyOrder::release(FluxJobId id, Instant at) {
    if (const auto holder = holders_.find(id); holder != holders_.end()) {
        std::visit([&](auto& order) { order.ended(holder->second, at); }, order_);
        holders_.erase(holder);
    }
}

void PolicyOrder::set_machine(const MachineSize& machine, Instant at) {
    std::visit([&](auto& order) { order.set_machine(machine, at); }, order_);
}

// ---- queries ----

void PolicyOrder::prioritize(const ShareTree& tree, const Measured& measured, Instant now, Values& changed) {
    std::visit([&](auto& order) { order.prioritize(use(tree, measured), now, order::Scope::all, changed); }, order_);
}

void PolicyOrder::prioritize_fresh(const ShareTree& tree, const Measured& measured, Instant now, Values& changed) {
    std::visit([&](auto& order) { order.prioritize(use(tree, measured), now, order::Scope::marked, changed); }, order_);
}

OrderTerms PolicyOrder::explain(JobId slot, const ShareTree& tree, const Measured& measured, Instant now) const {
    return std::visit([&](const auto& order) { return order.explain(slot, use(tree, measured), now); }, order_);
}

std::string PolicyOrder::lead(JobId own, JobId other, const ShareTree& tree, const Measured& measured,
                              Instant now) const {
    return std::visit([&](const auto& order) { return order.lead(own, other, use(tree, measured), now); }, order_);
}

std::optional<Course> PolicyOrder::course(JobId slot, const ShareTree& tree, const Measured& measured) const {
    return std::visit([&](const auto& order) { return order.course(slot, use(tree, measured)); }, order_);
}

std::string PolicyOrder::capped_by(JobId slot) const {
    if (!has(slot)) {
        return {};
    }
    order::Use use;
    use.credentials = &usage_;
    return std::visit([&](const auto& order) { return order.capped_by(slot, use); }, order_);
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
            kept.insert(users);  // @*: each member is one
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
