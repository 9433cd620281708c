// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the accounts of each user. See accounts_view.hpp.
#include "modules/job-priority/sends/accounts_view.hpp"

#include <iterator>
#include <map>
#include <utility>

#include "libfairshare/tree/payer.hpp"

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

AccountsView accounts_view(const ShareTree& tree, const ShareTree& lines, UserNames& users) {
    AccountsView view;
    if (const std::vector<NodeId> open = tree.open_accounts(); !open.empty()) {
        view.open_default = tree.path(open.front());  // as payer_of() has it: the first that is listed
    }
    for (std::uint32_t index = 1; index < tree.size(); ++index) {
        const NodeId node{index};
        const NodeKind kind = tree.kind(node);
        view.has_plain_defaults = view.has_plain_defaults && !is_by_job(tree, node);
        if (kind == NodeKind::account) {
            append(view.known_accounts, spellings(tree, node));
        }
        if (kind == NodeKind::user || kind == NodeKind::account || !is_open_to_others(tree, node)) {
            continue;
        }
        // The plugin does not check whether a job is in the group, queue or QoS: one that is not pays as
        // `unassociated`.
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
        const auto userid = users.id(name);
        if (!userid) {
            continue;  // no user has this name, so none can submit by it
        }
        user.userid = *userid;
        user.has_line = !lines.associations_of(name).empty();
        append(user.accounts, view.open_accounts);
        view.users.push_back(std::move(user));
    }
    return view;
}

}  // namespace weir::priority
