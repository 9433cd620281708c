// SPDX-License-Identifier: LGPL-3.0-only
// Owns: Fair Tree: siblings by level FS, depth first, ranks from N down, ties exact and merged as documented.
// Must not know: other algorithms, decay. Source: Slurm's fair_tree page, flux-accounting's weighted walk.
#pragma once
#include <compare>
#include <cstdint>

#include "libfairshare/algorithms/measures.hpp"
#include "libfairshare/algorithms/standings.hpp"

namespace weir {

/// level FS = (shares / siblings' shares) / (usage / parent's usage), compared as an exact ratio of integers. Without
/// shares it is 0, the lowest. With shares and no usage it is infinite, the highest. Siblings are sorted by descending
/// level FS. Among equal ones users come before accounts; equal users share a rank, and the next rank skips as many;
/// equal accounts are merged: their children, each with the level FS from its own account, are ranked as one list.
/// Factor = rank / associations. An account with `parent` shares is replaced by its children; a user with `parent`
/// shares has an infinite level FS. With equal shares and no usage the factor of every association is 1 (its balanced
/// factor).
struct FairTree {
    static constexpr RanksBy ranks_by = RanksBy::shares_and_usage;
    /// An account that ties with a user: false, its best association shares the user's rank (Slurm); true, it ranks
    /// after the user (flux-accounting).
    bool users_before_tied_accounts = false;

    void evaluate(const ShareTree& tree, const Measures& measures, Standings& into) const;
    NodeStanding node_standing(const ShareTree& tree, const Measures& measures, NodeId id) const;
};

/// A level FS as integers: shares * parent_usage / (sibling_shares * usage).
struct LevelFs {
    std::uint64_t shares;
    std::uint64_t sibling_shares;
    CoreMicros usage;
    CoreMicros parent_usage;
};
/// Exact for shares and sums below 2^48 and usage up to usage_max. A total preorder.
std::weak_ordering compare(const LevelFs& a, const LevelFs& b);

}  // namespace weir
