// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see fair_tree_ranks.hpp.
#include "libfairshare/algorithms/fair_tree_ranks.hpp"

#include <algorithm>

#include "libfairshare/base/check.hpp"

namespace weir {

FairTreeRanks::FairTreeRanks(const ShareTree& tree, FairTree rule)
    : tree_(&tree), rule_(rule), associations_(tree.size(), 0) {
    for (std::uint32_t i = tree.size(); i-- > 0;) {
        associations_[i] += tree.is_association(NodeId{i}) ? 1 : 0;
        if (i != 0) {
            associations_[tree.parent(NodeId{i}).value] += associations_[i];
        }
    }
}

LevelFs FairTreeRanks::level(std::span<const CoreMicros> usage, NodeId id) const {
    if (tree_->shares_parent(id)) {
        return {1, 1, 0, 0};  // infinite
    }
    const NodeId above = tree_->level_parent(id);
    return {tree_->shares(id), tree_->child_shares(above), usage[id.value], usage[above.value]};
}

void FairTreeRanks::append_level(NodeId account, std::vector<NodeId>& list) const {
    for (NodeId child : tree_->children(account)) {
        if (tree_->kind(child) == NodeKind::any_member) {
            continue;
        }
        if (tree_->shares_parent(child) && !tree_->is_association(child)) {
            append_level(child, list);
        } else {
            list.push_back(child);
        }
    }
}

std::uint32_t FairTreeRanks::rank(std::span<const CoreMicros> usage, NodeId leaf) const {
    WEIR_CHECK(leaf.value < tree_->size() && tree_->is_association(leaf));
    std::vector<NodeId> way;
    for (NodeId at = leaf; at != root_node; at = tree_->level_parent(at)) {
        way.push_back(at);
    }
    std::vector<NodeId> list;
    std::vector<NodeId> tied_accounts;
    append_level(root_node, list);
    std::uint32_t rank = associations_[root_node.value];  // that of the leaf's group, if it shares none from above
    bool shares_rank = false;                             // the list's first group has the rank of users above it
    std::uint32_t shared_rank = 0;
    for (auto step = way.rbegin();; ++step) {
        const LevelFs own = level(usage, *step);
        std::uint32_t tied_users = 0;
        bool is_first = true;
        tied_accounts.clear();
        for (NodeId sibling : list) {
            const auto order = compare(level(usage, sibling), own);
            if (std::is_gt(order)) {
                rank -= associations_[sibling.value];
                is_first = false;
            } else if (std::is_eq(order) && tree_->is_association(sibling)) {
                ++tied_users;
            } else if (std::is_eq(order)) {
                tied_accounts.push_back(sibling);
            }
        }
        shares_rank = shares_rank && is_first;
        shared_rank = shares_rank ? shared_rank : rank;
        if (*step == leaf) {
            return shared_rank;
        }
        shares_rank = (shares_rank || tied_users > 0) && !rule_.users_before_tied_accounts;
        rank -= tied_users;
        list.clear();
        for (NodeId account : tied_accounts) {
            append_level(account, list);
        }
    }
}

double FairTreeRanks::factor(std::span<const CoreMicros> usage, NodeId leaf) const {
    return rank(usage, leaf) * (1.0 / tree_->association_count());
}

void add_usage(const ShareTree& tree, NodeId leaf, CoreMicros amount, std::span<CoreMicros> usage) {
    for (NodeId at = leaf; at != root_node; at = tree.parent(at)) {
        usage[at.value] += amount;
    }
    usage[root_node.value] += amount;
}

}  // namespace weir
