// SPDX-License-Identifier: LGPL-3.0-only
// Owns: Fair Tree with the ranks of slurmctld, which differ from its documentation, for sites that must keep their
// ranks. Must not know: other algorithms, except Fair Tree's columns. Source: slurmctld 22.05.8 and 26.11, observed.
#pragma once
#include "libfairshare/algorithms/measures.hpp"
#include "libfairshare/algorithms/standings.hpp"

namespace weir {

/// Like FairTree, with two differences. Tied accounts are not merged: the children of each are ranked separately, and
/// the first association of the later account shares the rank of the last one of the earlier. A tie is the equality of
/// two long doubles, shares' part (a double) / usage's part (a long double), so siblings in exact proportion may
/// differ. Tied siblings are sorted users first, then in listed order. The ranks equal the program's where long double
/// has 64 bits of mantissa (x86); elsewhere near ties may differ.
struct FairTreeAsSlurm {
    static constexpr RanksBy ranks_by = RanksBy::shares_and_usage;
    void evaluate(const ShareTree& tree, const Measures& measures, Standings& into) const;
    /// Fair Tree's, but the norm_shares of the root, and of what shares its parent's right below it, are 1/4294967294.
    NodeStanding node_standing(const ShareTree& tree, const Measures& measures, NodeId id) const;
    /// The rank of one association without computing all. O(path x siblings), times the number of tied neighbours that
    /// share the rank. associations: associations_below(tree).
    std::uint32_t rank(const ShareTree& tree, std::span<const CoreMicros> usage,
                       std::span<const std::uint32_t> associations, NodeId leaf) const;
};

}  // namespace weir
