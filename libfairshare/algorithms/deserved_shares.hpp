// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the amount of a machine that each node deserves when shares of idle siblings go to siblings with demand
// (water-filling). Must not know: usage, ranks. Source: hierarchical max-min fairness, that is hierarchical DRF for one
// resource (Bhattacharya et al., SoCC 2013).
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

/// From the root down, the amount that an account deserves is divided over the nodes at its level. No node gets more
/// than the demand below it. Nodes whose demand is not met get the same amount a share. Users with `parent` shares are
/// filled first, equally. A node without shares gets nothing. demand: cores wanted now, with running ones, by NodeId;
/// only entries of users are read. capacity: cores, below 2^47; 0 means unknown, and a demand then only says that a
/// node wants something. All comparisons are exact and equal siblings get equal amounts. The amount of a share is
/// rounded down, so a level loses at most one unit a sibling. O(n log n) in the longest list of siblings.
DeservedShares deserved_shares(const ShareTree& tree, std::span<const std::uint64_t> demand, std::uint64_t capacity);

}  // namespace weir
