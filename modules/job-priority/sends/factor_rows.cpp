// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which rows are sent to children. See factor_rows.hpp.
#include "modules/job-priority/sends/factor_rows.hpp"

#include <algorithm>
#include <utility>

#include "libfairshare/tree/payer.hpp"

namespace weir::priority {
namespace {

/// The factor of a user who would join by the account's `@*` line: at least that of any present member.
double newcomer_factor(const ShareTree& tree, NodeId account, const Standings& standings) {
    double best = 0;
    bool has_member = false;
    for (const NodeId child : tree.children(account)) {
        if (tree.kind(child) == NodeKind::user) {
            best = std::max(best, standings.factor.at(child.value));
            has_member = true;
        }
    }
    return has_member ? best : 1.0;
}

}  // namespace

std::vector<FactorRow> factor_rows(const ShareTree& tree, const Standings& standings, UserNames& users) {
    std::vector<FactorRow> rows;
    if (standings.factor.size() < tree.size()) {
        return rows;  // before the first pass
    }
    for (std::uint32_t index = 1; index < tree.size(); ++index) {
        const NodeId node{index};
        const NodeKind kind = tree.kind(node);
        if (kind != NodeKind::user && kind != NodeKind::any_member && kind != NodeKind::others) {
            continue;
        }
        if (account_above(tree, tree.parent(node)) != tree.parent(node)) {
            continue;  // below a group, queue or QoS: children know only accounts and users
        }
        FactorRow row;
        row.user = std::string(tree.name(node));
        row.account = tree.path(tree.parent(node));
        if (kind != NodeKind::user) {
            row.factor = kind == NodeKind::others ? standings.factor.at(index)
                                                  : newcomer_factor(tree, tree.parent(node), standings);
            row.is_default = tree.open_accounts().front() == tree.parent(node);
        } else {
            row.userid = users.id(row.user);
            row.factor = standings.factor.at(index);
            const Result<Association> by_default = tree.association("", row.user);
            row.is_default = by_default && by_default->account == tree.parent(node);
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

FactorPublication::Rows FactorPublication::changed(std::vector<FactorRow> all) {
    Rows changed;
    changed.is_complete = std::exchange(is_complete_, false);
    if (changed.is_complete) {
        published_.clear();
    }
    for (FactorRow& row : all) {
        const std::string key = row.account + "/@" + row.user;
        const auto known = published_.find(key);
        if (known == published_.end() || known->second != row.factor) {
            published_[key] = row.factor;
            changed.rows.push_back(std::move(row));
        }
    }
    return changed;
}

}  // namespace weir::priority
