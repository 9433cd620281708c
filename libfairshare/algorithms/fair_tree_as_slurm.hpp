// SPDX-License-Identifier: LGPL-3.0-only
// Owns: Fair Tree as slurmctld ranks, where that is not what its page says: for sites that must keep their ranks.
// Must not know: other algorithms but for Fair Tree's columns. Source: slurmctld 22.05.8 and 26.11, observed; ADR 0080.
#pragma once
#include "libfairshare/algorithms/measures.hpp"
#include "libfairshare/algorithms/standings.hpp"

namespace weir {

/// As FairTree but: tied accounts are not merged, the children of each are ranked by themselves, the first association
/// of the later one sharing the rank of the last of the earlier; and a tie is the equality of two long doubles, shares'
/// part (a double) / usage's part (a long double), so that siblings in exact proportion may part. Tied siblings go
/// users first, then in listed order, which therefore matters here. Ranks are the program's wherever long double has 64
/// bits of mantissa (x86); elsewhere near ties may part otherwise.
struct FairTreeAsSlurm {
    void evaluate(const ShareTree& tree, const Measures& measures, Standings& into) const;
    NodeStanding node_standing(const ShareTree& tree, const Measures& measures, NodeId id) const;
    /// One association's rank without everybody's: O(path x siblings), times the tied neighbours it has it from.
    /// associations: associations_below(tree).
    std::uint32_t rank(const ShareTree& tree, std::span<const CoreMicros> usage,
                       std::span<const std::uint32_t> associations, NodeId leaf) const;
};

}  // namespace weir
