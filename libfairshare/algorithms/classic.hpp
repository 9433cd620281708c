// SPDX-License-Identifier: LGPL-3.0-only
// Owns: Slurm's classic fair share, factor = 2^-(effective usage / norm shares / dampening).
// Must not know: other algorithms, decay. Source: Slurm's classic_fair_share page, formulas of priority/multifactor.
#pragma once

#include "libfairshare/algorithms/measures.hpp"
#include "libfairshare/algorithms/standings.hpp"

namespace weir {

/// norm shares S = product of shares/siblings' shares along the path. With U = usage / root's usage, effective usage UE
/// = U for children of the root, else UE = U + (UE_parent - U) * shares / siblings' shares (UE_parent where the
/// siblings have no shares at all). S = 0 gives factor 0; no usage anywhere gives 1; usage as entitled gives 1/2.
/// `parent` shares: the node has the S and UE of its level parent, and its children are at that one's level.
/// Depth-oblivious, where S, U and the level parent's S and UE are above 0: with P = UE_parent / S_parent and L = (U /
/// S) / (usage of the level's nodes / root's usage / S_parent), UE = S * P * L^k with k = 1 where P and L are on the
/// same side of 1, else 1 / (1 + (5 ln P)^2); elsewhere UE = U. Ranks are by the factor rounded to 2^-32; ties share
/// the higher rank.
struct Classic {
    static constexpr RanksBy ranks_by = RanksBy::factor;
    double dampening = 1.0;        ///< FairShareDampeningFactor, at least 1
    bool depth_oblivious = false;  ///< Slurm's flag of that name

    void evaluate(const ShareTree& tree, const Measures& measures, Standings& into) const;
    NodeStanding node_standing(const ShareTree& tree, const Measures& measures, NodeId id) const;
};

}  // namespace weir
