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

void append(std::vector<std::string>& names, std::vector<std::string> more) {
    names.insert(names.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

void PriorityService::configure(Settings settings, Instant now) {
    const bool is_same_users = settings.users == settings_.users && settings.is_enforced == settings_.is_enforced;
    settings_ = std::move(settings);
    users_.configure(settings_.users);
    Result<Algorithm> algorithm = algorithm_named(settings_.algorithm);
    if (algorithm) {
        algorithm_ = *algorithm;
    }
    accounting_.set_half_life(settings_.half_life, now);
    book_.set_age_rule(settings_.ageing);
    queue_.configure(settings_, machine_cores_);
    put_all();
    evaluated_at_.reset();
    accounts_version_ += is_same_users ? 0 : 1;
}

void PriorityService::set_machine_cores(std::uint32_t cores) {
    if (is_machine_known_ && cores == machine_cores_) {
        return;
    }
    is_machine_known_ = true;
    machine_cores_ = std::max(1U, cores);
    queue_.configure(settings_, machine_cores_);
    put_all();
}

void PriorityService::accept(const TreeProposal& proposal, Instant now) {
    trees_.accept(proposal);
    accounting_.rebind(proposal.tree, now);
    accounting_.batch().revisions.push_back(proposal.revision);
    evaluated_at_.reset();
    is_publication_complete_ = true;
    accounts_version_ += 1;
    put_all();
}

AccountsView PriorityService::accounts() {
    const ShareTree& tree = accounting_.tree();
    AccountsView view;
    for (const NodeId account : tree.open_accounts()) {
        append(view.open_accounts, spellings(tree, account));
    }
    if (!view.open_accounts.empty()) {
        view.open_default = view.open_accounts.front();
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
        append(user.accounts, spellings(tree, tree.parent(node)));
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
