// SPDX-License-Identifier: LGPL-3.0-only
// Owns: OpenPBS's fair share: a usage that starts at one, tree percentages, tree usage, the order of two entities.
// Must not know: resource_group files, decay (usage/step_decay). Source: OpenPBS fairshare.c, pbsfs(8).
#pragma once
#include <compare>
#include <span>

#include "libfairshare/algorithms/measures.hpp"
#include "libfairshare/algorithms/standings.hpp"

namespace weir {

/// Siblings are sorted by usage / shares, the lower first, zero shares last. Two entities are compared in the same way
/// at the first level where their paths differ. Without a percentage of the tree (zero shares, their own or above) all
/// are equal, whatever their shares there and their usage. Ranks and factors are Fair Tree's walk of that order. Every
/// node starts with one unit of usage: a leaf that used less counts as one, and an account has one more than its leaves
/// used.
struct OpenPbs {
    CoreMicros unit = 1000000;  ///< one unit of fairshare_usage_res, in core-microseconds: cput or walltime in seconds

    void evaluate(const ShareTree& tree, const Measures& measures, Standings& into) const;
    /// norm_shares is fairshare_perc, effective_usage fairshare_tree_usage, factor 2^-(tree usage / perc).
    NodeStanding node_standing(const ShareTree& tree, const Measures& measures, NodeId id) const;
    /// less: a comes first. Exact. equivalent: one is an ancestor of the other, they are equal at every level that both
    /// have, or neither has a percentage where their paths part. O(depth).
    std::weak_ordering compare(const ShareTree& tree, const Measures& measures, NodeId a, NodeId b) const;
    /// What pbsfs -g prints as usage/perc: counted usage in units, divided by norm_shares; infinite without shares.
    /// Sibling groups and entities are compared by it, the lower first.
    double usage_per_share(const ShareTree& tree, const Measures& measures, NodeId id) const;
    /// The usage of one node as OpenPBS counts it, in core-microseconds.
    CoreMicros counted(const ShareTree& tree, std::span<const CoreMicros> usage, NodeId id) const;
};

}  // namespace weir
