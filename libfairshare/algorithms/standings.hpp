// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the result of a fair-share algorithm. Must not know: how it was computed.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "libfairshare/tree/share_tree.hpp"
#include "libfairshare/usage/usage.hpp"

namespace weir {

/// Per node, index NodeId. Accounts and `@*` lines have rank 0 and factor 0.
struct Standings {
    std::vector<double> factor;       ///< in [0, 1]; 1 is the first
    std::vector<std::uint32_t> rank;  ///< association_count (first) down to 1; ties share the higher
};

/// What an algorithm compares to rank associations, for explanations.
enum class RanksBy : std::uint8_t {
    shares_and_usage,  ///< level by level, of siblings: level_fs, which is shares against usage
    level_value,       ///< level by level: level_fs, which other measures decide, too
    factor,            ///< the factors of the associations themselves
};

/// Ranks by the factors already in `standings`, rounded to 2^-32: ties share the higher rank. For algorithms whose
/// factor is a number of its own, not a rank. O(size).
void rank_by_factor(const ShareTree& tree, Standings& standings);

/// The other columns of `sshare -l`, of one node.
struct NodeStanding {
    double norm_shares = 0;      ///< Fair Tree: among the siblings; classic: of the machine
    double norm_usage = 0;       ///< of the root's usage; 0 where that is 0
    double effective_usage = 0;  ///< Fair Tree: of the parent's usage; classic: Slurm's formula
    /// norm_shares / effective_usage; none where infinite (shares, but no usage; a user with `parent` shares) and for
    /// accounts with `parent` shares, which have none.
    std::optional<double> level_fs;
    /// An account's own factor, where the algorithm gives accounts one (classic).
    std::optional<double> factor;
};

}  // namespace weir
