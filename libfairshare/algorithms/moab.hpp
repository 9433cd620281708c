// SPDX-License-Identifier: LGPL-3.0-only
// Owns: Moab's and Maui's fair share: targets, floors, ceilings and caps, per credential and down a tree.
// Must not know: windows (usage/window), other priority components. Source: Maui 3.3.1 manual, Moab 6.3; ADR 0091.
#pragma once
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "libfairshare/algorithms/measures.hpp"
#include "libfairshare/algorithms/standings.hpp"
#include "libfairshare/base/result.hpp"

namespace weir {

enum class TargetKind {
    none,
    target,        ///< "20": raises below, lowers above
    floor,         ///< "20+": only raises
    ceiling,       ///< "20-": only lowers
    cap_absolute,  ///< "16500^": what would pass it is blocked; in the metric's unit over the whole window span
    cap_relative,  ///< "10%": as above, in percent of all usage
};

/// FSTARGET or FSCAP of one credential or node. Percent of usage, but for cap_absolute.
struct FsTarget {
    double value = 0;
    TargetKind kind = TargetKind::none;
    friend bool operator==(const FsTarget&, const FsTarget&) = default;
};

/// An FSTARGET: a number of at least 0 with "+", "-", "^", "%" or nothing behind it. Errors: EINVAL.
Result<FsTarget> fs_target_named(std::string_view text);
/// Moab's FSCAP: "^" or "%" or nothing, which means "%". Errors: EINVAL.
Result<FsTarget> fs_cap_named(std::string_view text);

/// A credential's own target, or that of [DEFAULT] where it has none or 0; none where neither has one.
FsTarget effective_target(const FsTarget& own, const FsTarget& fallback);

/// How far usage is from the target, in the direction that it may count: target - usage in percent points, or as a
/// ratio 1 - usage / target (Maui's FSPOLICY "%"). 0 for caps and where there is no target.
double fs_discrepancy(const FsTarget& target, double usage_percent, bool is_ratio = false);
/// What `mdiag -f` marks with a star: a floor that is missed, a ceiling that is passed, a target off by more than 5.
bool is_off_target(const FsTarget& target, double usage_percent);

/// A cap and a job that would add `request`; all in the metric's unit. The request is not added to the total, as in
/// Maui. What is no cap admits everything, and a relative one everything while nothing was used at all. Whether `usage`
/// is decayed is the caller's choice: a windowed or decayed ledger's usage(), or charged() for a cap that never heals
/// by itself.
bool cap_admits(const FsTarget& cap, double usage, double total, double request);
/// What is held against the cap: usage + request, for cap_relative in percent of the total.
double cap_projection(const FsTarget& cap, double usage, double total, double request);

/// One credential's part of a job's fair-share component (user, group, account, QoS, class).
struct FsPart {
    FsTarget target;
    double usage_percent = 0;
    double weight = 0;  ///< FSUSERWEIGHT … plus the credential's own FSWEIGHT
    double cap = 0;     ///< FSUSERCAP …: bounds the discrepancy upwards; 0 or less: none
};
/// FSWEIGHT * min(FSCAP, sum of weight * min(cap, discrepancy)); 0 or less for a cap: none. Caps bound only upwards.
double fs_component(std::span<const FsPart> parts, double fs_weight, double fs_cap = 0, bool is_ratio = false);

/// Targets down the share tree. Each tier's discrepancy is that of usage as a percentage of its parent's; a leaf's is
/// the weighted mean over its tiers, the tier under the root weighing 1 and each below it tier_weight times the one
/// above: below 1 the parents' discrepancies rule, above 1 the children's. In ratio mode a tier's is kept to [-1, 1].
/// Factor 1/2 is as entitled, 1 all below and 0 all above the targets. Ranks go by the factor rounded to 2^-32.
struct Moab {
    double tier_weight = 0.5;  ///< above 0
    bool is_ratio = false;

    /// Every node's target is its part of its siblings' shares, in percent.
    void evaluate(const ShareTree& tree, const Measures& measures, Standings& into) const;
    /// Targets by NodeId; one that is none falls back on the shares.
    void evaluate(const ShareTree& tree, const Measures& measures, std::span<const FsTarget> targets,
                  Standings& into) const;
    /// norm_shares is the target, effective_usage the usage, both of the parent's; level_fs their ratio.
    NodeStanding node_standing(const ShareTree& tree, const Measures& measures, NodeId id) const;
};

}  // namespace weir
