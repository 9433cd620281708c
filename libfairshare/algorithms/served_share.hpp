// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the factor that says how well an association was served: 1/2 as entitled, near 0 with more, near 1 with less.
// Must not know: other algorithms, decay. Source: the Flux wiki's fair-share factor, which gives no formula; S / (S +
// U) needs no constant and always distinguishes two users.
#pragma once
#include "libfairshare/algorithms/measures.hpp"
#include "libfairshare/algorithms/standings.hpp"

namespace weir {

/// S = part of the machine a node is entitled to (the product of its shares' parts along the path), U = its part of all
/// usage. Factor = S / (S + U): U = S gives 1/2, no usage 1, twice the entitlement 1/3. No shares: 0. A node with
/// `parent` shares has its level parent's S and U. Ranks are by the factor rounded to 2^-32. O(size).
struct ServedShare {
    static constexpr RanksBy ranks_by = RanksBy::factor;
    void evaluate(const ShareTree& tree, const Measures& measures, Standings& into) const;
    NodeStanding node_standing(const ShareTree& tree, const Measures& measures, NodeId id) const;
};

}  // namespace weir
