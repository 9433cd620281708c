// SPDX-License-Identifier: LGPL-3.0-only
// Owns: samples of the parties' decayed usage in a replay, and the figures that fair-share programs compute from it:
// distance from entitlement, level fair share. Must not know policies nor ledgers: it measures any replay, also of a
// policy with another decay or none.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "libsched/sim/party_tree.hpp"
#include "libsched/sim/timeline.hpp"

namespace weir {

/// A sample of all parties at one instant.
struct UsageSample {
    Instant at;
    std::vector<double> usage_core_s;  ///< by party; u' = cores running - u ln 2 / half-life; running jobs included
    std::vector<bool> asks;            ///< by party: has a job queued or running
};

/// The state after all events at each of `looks`, which are in order. `half_life` > 0. O(n depth + looks parties).
std::vector<UsageSample> usage_history(const Timeline& timeline, const PartyTree& tree, Duration half_life,
                                       const std::vector<Instant>& looks);

/// `parts` + 1 instants at equal distances from the first submission to the last end.
std::vector<Instant> equal_looks(const Timeline& timeline, std::size_t parts);

/// A party that is compared (PartyTree::compared_below) and asks for something, among those that do.
struct AskingPart {
    std::size_t party = 0;  ///< place in the tree
    double used = 0;        ///< of the usage of those that ask
    double entitled = 0;    ///< of the entitlements of those that ask
};
/// Who asks for nothing can be given nothing, so he is left out: among hundreds of users most ask for nothing at any
/// moment. Empty where fewer than two ask, or those that ask have no usage or no entitlement.
std::vector<AskingPart> asking_parts(const UsageSample& sample, const PartyTree& tree);
/// Half the sum of |used - entitled| over asking_parts(), in [0,1]; nothing where that is empty.
std::optional<double> distance_from_entitlement(const UsageSample& sample, const PartyTree& tree);

/// Mean of |log2 LevelFS| over the parties without children that have demand and usage; LevelFS = (shares / siblings'
/// shares) / (usage / siblings' usage). 0: all served to their shares, 1: off by a factor of two. 0 where there are
/// none. Source: Slurm, sshare(1), "Level FS".
double level_fs_error(const UsageSample& sample, const PartyTree& tree);

/// Mean of level_fs_error() over the ends of the days (of 24 h from the first submission) within the timeline; 0 where
/// there are none. A day at whose end nobody asks for anything counts with 0, in no time. O(n depth + other days
/// parties).
double daily_level_fs_error(const Timeline& timeline, const PartyTree& tree, Duration half_life);

}  // namespace weir
