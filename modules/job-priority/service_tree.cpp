// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the service's answers to changes of configuration and tree. See priority_service.hpp.
#include <algorithm>
#include <utility>

#include "modules/job-priority/priority_service.hpp"

namespace weir::priority {
namespace {

/// Every spelling under which `account` resolves: its path, and its last component where no other account has it.
std::vector<std::string> spellings(const ShareTree& tree, NodeId account) {
    std::vector<std::string> names{tree.path(account)};
    const std::string last(tree.name(account));
    if (last != names.front()) {
        const Result<NodeId> by_name = tree.account(last);
        if (by_name && *by_name == account) {
            names.push_back(last);
        }
    }
    return names;
}

/// `@*` lines, and groups, queues and QoS without nodes below them.
bool is_open_to_others(const ShareTree& tree, NodeId node) {
    return tree.kind(node) == NodeKind::any_member || tree.is_association(node);
}

void append(std::vector<std::string>& names, std::vector<std::string> more) {
    names.insert(names.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

void PriorityService::configure(Settings settings, Instant now) {
    const bool is_same_users = settings.users == settings_.users && settings.is_enforced == settings_.is_enforced;
    settings_ = std::move(settings);
    users_.configure(settings_.users);
    algorithm_ = algorithm_of(settings_);
    accounting_.configure(counting_of(settings_), now);
    book_.set_age_rule(settings_.ageing);
    configure_queue();
    configure_order(now);
    put_all();
    recount_limits();
    evaluated_at_.reset();
    accounts_version_ += is_same_users ? 0 : 1;
}

void PriorityService::configure_queue() {
    // A parent's factors have the parent's indices: nothing of our tree goes with them.
    queue_.configure(
        settings_, machine_,
        has_parent_factors() ? std::vector<double>{} : association_priorities(settings_, accounting_.tree()));
}

void PriorityService::set_machine(const MachineSize& machine) {
    if (is_machine_known_ && machine == machine_) {
        return;
    }
    is_machine_known_ = true;
    machine_ = machine;
    machine_.cores = std::max(1U, machine.cores);
    order_.set_machine(machine_, order_time_);
    configure_queue();
    put_all();
}

TreeChangeover PriorityService::prepare(TreeProposal proposal, Instant now) const {
    Accounting next = accounting_;
    next.rebind(proposal.tree, now);
    next.batch().revisions.push_back(proposal.revision);
    StateBatch batch = next.take();
    return {std::move(proposal), std::move(next), std::move(batch)};
}

void PriorityService::accept(TreeChangeover changeover) {
    trees_.accept(changeover.proposal);
    accounting_ = std::move(changeover.accounting);
    has_groups_ = has_groups(accounting_.tree());
    evaluated_at_.reset();
    is_publication_complete_ = true;
    accounts_version_ += 1;
    configure_queue();
    put_all();
    recount_limits();
}

AccountsView PriorityService::accounts() {
    const ShareTree& tree = accounting_.tree();
    AccountsView view;
    for (std::uint32_t index = 1; index < tree.size(); ++index) {
        const NodeId node{index};
        const NodeKind kind = tree.kind(node);
        if (kind == NodeKind::account) {
            append(view.known_accounts, spellings(tree, node));
        }
        if (kind == NodeKind::user || kind == NodeKind::account || !is_open_to_others(tree, node)) {
            continue;
        }
        // Whether a job is in the group, queue or QoS is not for the plugin to judge: who is not, pays as nobody.
        const NodeId account = account_above(tree, tree.parent(node));
        view.open_default = view.open_default.value_or(tree.path(tree.parent(node)));
        if (account != root_node) {
            append(view.open_accounts, spellings(tree, account));
        }
    }
    std::map<std::string, AccountsView::User> by_name;
    for (std::uint32_t index = 0; index < tree.size(); ++index) {
        const NodeId node{index};
        if (tree.kind(node) != NodeKind::user) {
            continue;
        }
        const std::string name(tree.name(node));
        AccountsView::User& user = by_name[name];
        user.name = name;
        if (const NodeId account = account_above(tree, tree.parent(node)); account != root_node) {
            append(user.accounts, spellings(tree, account));
        }
        if (!user.default_account) {
            const Result<Association> chosen = tree.association("", name);
            user.default_account = chosen ? tree.path(chosen->account) : std::string();
        }
    }
    for (auto& [name, user] : by_name) {
        const auto userid = users_.id(name);
        if (!userid) {
            continue;  // a name that is nobody here cannot submit
        }
        user.userid = *userid;
        append(user.accounts, view.open_accounts);
        view.users.push_back(std::move(user));
    }
    return view;
}

}  // namespace weir::priority
