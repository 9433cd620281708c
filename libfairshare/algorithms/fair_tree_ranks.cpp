// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see fair_tree_ranks.hpp.
#include "libfairshare/algorithms/fair_tree_ranks.hpp"

#include <algorithm>

#include "libfairshare/base/check.hpp"

namespace weir {

std::vector<std::uint32_t> associations_below(const ShareTree& tree) {
    std::vector<std::uint32_t> made(tree.size(), 0);
    for (std::uint32_t i = tree.size(); i-- > 0;) {
        made[i] += tree.is_association(NodeId{i}) ? 1 : 0;
        if (i != 0) {
            made[tree.parent(NodeId{i}).value] += made[i];
        }
    }
    return made;
}

void append_level(const ShareTree& tree, NodeId account, std::vector<NodeId>& list) {
    for (NodeId child : tree.children(account)) {
        if (tree.kind(child) == NodeKind::any_member) {
            continue;
        }
        if (tree.shares_parent(child) && !tree.is_association(child)) {
            append_level(tree, child, list);
        } else {
            list.push_back(child);
        }
    }
}

std::vector<NodeId> levels_to(const ShareTree& tree, NodeId id) {
    std::vector<NodeId> way;
    for (NodeId at = id; at != root_node; at = tree.level_parent(at)) {
        way.push_back(at);
    }
    std::reverse(way.begin(), way.end());
    return way;
}

FairTreeRanks::FairTreeRanks(const ShareTree& tree, FairTree rule)
    : tree_(&tree), rule_(rule), associations_(associations_below(tree)) {}

std::uint32_t FairTreeRanks::rank(std::span<const CoreMicros> usage, NodeId leaf) const {
    return rank([this](NodeId id) { return std::uint64_t{tree_->shares(id)}; },
                [this](NodeId above) { return std::uint64_t{tree_->child_shares(above)}; }, usage, leaf);
}

std::uint32_t FairTreeRanks::rank_by(const std::function<LevelFs(NodeId)>& level_of, NodeId leaf) const {
    WEIR_CHECK(leaf.value < tree_->size() && tree_->is_association(leaf));
    constexpr LevelFs infinite{1, 1, 0, 0};
    const auto level = [&](NodeId id) { return tree_->shares_parent(id) ? infinite : level_of(id); };
    std::vector<NodeId> list;
    std::vector<NodeId> tied_accounts;
    append_level(*tree_, root_node, list);
    std::uint32_t rank = associations_[root_node.value];  // that of the leaf's group, if it shares none from above
    bool shares_rank = false;                             // the list's first group has the rank of users above it
    std::uint32_t shared_rank = 0;
    for (NodeId step : levels_to(*tree_, leaf)) {
        const LevelFs own = level(step);
        std::uint32_t tied_users = 0;
        bool is_first = true;
        tied_accounts.clear();
        for (NodeId sibling : list) {
            const auto order = compare(level(sibling), own);
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
        shares_rank = (shares_rank || tied_users > 0) && !rule_.users_before_tied_accounts;
        rank -= tied_users;
        list.clear();
        for (NodeId account : tied_accounts) {
            append_level(*tree_, account, list);
        }
    }
    return shared_rank;
}

void add_usage(const ShareTree& tree, NodeId leaf, CoreMicros amount, std::span<CoreMicros> usage) {
    for (NodeId at = leaf; at != root_node; at = tree.parent(at)) {
        usage[at.value] += amount;
    }
    usage[root_node.value] += amount;
}

}  // namespace weir
