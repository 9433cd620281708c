// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what each node deserves of a machine when idle siblings' shares flow to those who want more: water-filling.
// Must not know: usage, ranks. Source: hierarchical max-min fairness, that is hierarchical DRF for one resource
// (Bhattacharya et al., SoCC 2013). ADR 0083.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "libfairshare/tree/share_tree.hpp"

namespace weir {

/// In units of 2^-fraction_bits cores, below 2^48.
struct DeservedShares {
    unsigned fraction_bits = 0;
    std::vector<std::uint64_t> amount;     ///< by NodeId: what the node deserves
    std::vector<std::uint64_t> level_sum;  ///< by level_parent(): the amounts of the nodes with shares of their own

    double cores(NodeId id) const;
};

/// From the root down, what an account deserves is poured over the nodes at its level: nobody gets more than is wanted
/// below; those who want more than they get stand at the same amount a share. Users with `parent` shares are filled
/// first, equally. No shares: nothing.
/// demand: by NodeId, of users alone is read; cores wanted now, running ones included. capacity: cores, below 2^47;
/// 0: not known, then a demand only tells that somebody wants something.
/// Integers: what is wanted and all comparisons are exact, equal siblings get equal amounts, a share's amount is
/// rounded down, so that of a level at most one unit a sibling is lost. O(n log n) in the longest list of siblings.
DeservedShares deserved_shares(const ShareTree& tree, std::span<const std::uint64_t> demand, std::uint64_t capacity);

}  // namespace weir
