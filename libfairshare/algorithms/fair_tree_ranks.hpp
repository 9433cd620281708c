// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the Fair Tree rank of one association, computed without ranking all. The start or end of a job needs this. Must
// not know: decay, who charged. It uses the rule and the exact comparisons of FairTree.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "libfairshare/algorithms/fair_tree.hpp"

namespace weir {

/// It stores no usage and no ranks, only how many associations are below each node. After a charge only the usage along
/// the path changes (add_usage()), and every rank read afterwards is correct.
class FairTreeRanks {
  public:
    /// The tree must outlive this. O(size) once a tree; four bytes a node.
    explicit FairTreeRanks(const ShareTree& tree, FairTree rule = {});

    /// The rank that FairTree::evaluate() gives the leaf with this usage (by NodeId). It reads the leaf's siblings, its
    /// account's siblings, and so on to the root. Where accounts tie, it reads the children of all of them, because
    /// they are merged. O(path x siblings). REQUIRES: leaf is an association of the tree.
    std::uint32_t rank(std::span<const CoreMicros> usage, NodeId leaf) const;
    /// The same with other shares than the tree's: shares_of(NodeId) and, by level_parent(), shares_sum(NodeId).
    template <typename SharesOf, typename SharesSum>
    std::uint32_t rank(const SharesOf& shares_of, const SharesSum& shares_sum, std::span<const CoreMicros> usage,
                       NodeId leaf) const {
        return rank_by(
            [&](NodeId id) {
                const NodeId above = tree_->level_parent(id);
                return LevelFs{shares_of(id), shares_sum(above), usage[id.value], usage[above.value]};
            },
            leaf);
    }

  private:
    /// level_of: of a node with shares of its own.
    std::uint32_t rank_by(const std::function<LevelFs(NodeId)>& level_of, NodeId leaf) const;

    const ShareTree* tree_;
    FairTree rule_;
    std::vector<std::uint32_t> associations_;  // by NodeId: at or below the node
};

/// By NodeId: the number of associations at or below it. O(size).
std::vector<std::uint32_t> associations_below(const ShareTree& tree);
/// Appends the nodes that compete at an account's level: its children, where an account with `parent` shares is
/// replaced by its own children. O(their number).
void append_level(const ShareTree& tree, NodeId account, std::vector<NodeId>& list);
/// The nodes from the one under the root to `id` at whose levels it competes, top down. O(depth).
std::vector<NodeId> levels_to(const ShareTree& tree, NodeId id);

/// Adds what the leaf used to its path. O(depth).
void add_usage(const ShareTree& tree, NodeId leaf, CoreMicros amount, std::span<CoreMicros> usage);

}  // namespace weir
