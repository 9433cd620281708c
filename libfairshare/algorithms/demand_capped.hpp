// SPDX-License-Identifier: LGPL-3.0-only
// Owns: demand-capped fair share: Fair Tree with what each node deserves now in the place of its shares.
// Must not know: how that is found (deserved_shares.hpp). ADR 0083.
#pragma once
#include "libfairshare/algorithms/measures.hpp"
#include "libfairshare/algorithms/standings.hpp"

namespace weir {

/// As FairTree, level FS = (deserved / the level's deserved) / (usage / level parent's usage), deserved by demand and
/// capacity. Who wants nothing deserves nothing and ranks last. Without demand it is Fair Tree.
struct DemandCapped {
    void evaluate(const ShareTree& tree, const Measures& measures, Standings& into) const;
    /// O(size).
    NodeStanding node_standing(const ShareTree& tree, const Measures& measures, NodeId id) const;
};

}  // namespace weir
