// SPDX-License-Identifier: LGPL-3.0-only
// Owns: demand-capped fair share: Fair Tree in which the amount that a node deserves now replaces its shares. Must not
// know: how that amount is computed (deserved_shares.hpp).
#pragma once
#include "libfairshare/algorithms/measures.hpp"
#include "libfairshare/algorithms/standings.hpp"

namespace weir {

/// As FairTree, level FS = (deserved / the level's deserved) / (usage / level parent's usage), deserved by demand and
/// capacity. A node without demand deserves nothing and ranks last. If no demand is given, this is Fair Tree.
struct DemandCapped {
    static constexpr RanksBy ranks_by = RanksBy::level_value;
    void evaluate(const ShareTree& tree, const Measures& measures, Standings& into) const;
    /// O(size).
    NodeStanding node_standing(const ShareTree& tree, const Measures& measures, NodeId id) const;
};

}  // namespace weir
