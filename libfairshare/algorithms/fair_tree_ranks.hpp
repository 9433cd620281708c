// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the Fair Tree rank of one association without ranking all: what a job's start or end asks for.
// Must not know: decay, who charged. Same rule and same exact comparisons as FairTree. ADR 0084.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "libfairshare/algorithms/fair_tree.hpp"

namespace weir {

/// Holds no usage and no ranks, only how many associations stand below each node: after a charge there is nothing to
/// recompute but the usage along the path (add_usage()), and every rank asked for is right at once.
class FairTreeRanks {
  public:
    /// The tree must outlive this. O(size) once a tree; four bytes a node.
    explicit FairTreeRanks(const ShareTree& tree, FairTree rule = {});

    /// The rank that FairTree::evaluate() gives the leaf with this usage (by NodeId). Looks at the leaf's siblings, its
    /// account's, and so on to the root; where accounts tie, at the children of all of them, as they are merged.
    /// O(path x siblings). REQUIRES: leaf is an association of the tree.
    std::uint32_t rank(std::span<const CoreMicros> usage, NodeId leaf) const;
    /// rank / associations.
    double factor(std::span<const CoreMicros> usage, NodeId leaf) const;

  private:
    LevelFs level(std::span<const CoreMicros> usage, NodeId id) const;
    void append_level(NodeId account, std::vector<NodeId>& list) const;

    const ShareTree* tree_;
    FairTree rule_;
    std::vector<std::uint32_t> associations_;  // by NodeId: at or below the node
};

/// Adds what the leaf used to its path. O(depth).
void add_usage(const ShareTree& tree, NodeId leaf, CoreMicros amount, std::span<CoreMicros> usage);

}  // namespace weir
