// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which rows are sent to children. See factor_rows.hpp.
#include "modules/job-priority/sends/factor_rows.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "libfairshare/tree/payer.hpp"

namespace weir::priority {
namespace {

constexpr double unpublished = std::numeric_limits<double>::quiet_NaN();  // differs from every factor

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

/// Calls visit(node, factor) for each line of a user, `@*` or `others` directly below an account. Children know only
/// accounts and users. Without effect where the standings were not made of this tree yet.
template <typename Visit>
void for_each_factor(const ShareTree& tree, const Standings& standings, Visit visit) {
    if (standings.factor.size() < tree.size()) {
        return;  // before the first pass
    }
    for (std::uint32_t index = 1; index < tree.size(); ++index) {
        const NodeId node{index};
        const NodeKind kind = tree.kind(node);
        if (kind != NodeKind::user && kind != NodeKind::any_member && kind != NodeKind::others) {
            continue;
        }
        const NodeId account = tree.parent(node);
        if (account_above(tree, account) == account) {
            visit(node, kind == NodeKind::any_member ? newcomer_factor(tree, account, standings)
                                                     : standings.factor.at(index));
        }
    }
}

FactorRow row_of(const ShareTree& tree, NodeId node, double factor, UserNames& users) {
    FactorRow row;
    row.user = std::string(tree.name(node));
    row.account = tree.path(tree.parent(node));
    row.factor = factor;
    if (tree.kind(node) != NodeKind::user) {
        row.is_default = tree.open_accounts().front() == tree.parent(node);
    } else {
        row.userid = users.id(row.user);
        const Result<Association> by_default = tree.association("", row.user);
        row.is_default = by_default && by_default->account == tree.parent(node);
    }
    return row;
}

}  // namespace

std::vector<FactorRow> factor_rows(const ShareTree& tree, const Standings& standings, UserNames& users) {
    std::vector<FactorRow> rows;
    for_each_factor(tree, standings,
                    [&](NodeId node, double factor) { rows.push_back(row_of(tree, node, factor, users)); });
    return rows;
}

FactorPublication::Rows FactorPublication::changed(const ShareTree& tree, const Standings& standings,
                                                   UserNames& users) {
    Rows changed;
    changed.is_complete = std::exchange(is_complete_, false);
    if (changed.is_complete) {
        published_.clear();
    }
    published_.resize(std::max<std::size_t>(published_.size(), tree.size()), unpublished);
    for_each_factor(tree, standings, [&](NodeId node, double factor) {
        double& published = published_[node.value];
        if (published != factor) {
            published = factor;
            changed.rows.push_back(row_of(tree, node, factor, users));
        }
    });
    return changed;
}

}  // namespace weir::priority
