// SPDX-License-Identifier: LGPL-3.0-only
// Owns: Moab's and Maui's fair share: targets, floors, ceilings and caps, per credential and down a tree.
// Must not know: windows (usage/window), other priority components. Source: Maui 3.3.1 manual, Moab 6.3.
#pragma once
#include <optional>
#include <span>
#include <string_view>

#include "libfairshare/algorithms/measures.hpp"
#include "libfairshare/algorithms/standings.hpp"
#include "libfairshare/base/result.hpp"

namespace weir {

/// Moab's FSCAP: "16500^" or "10%" or "10", which means "10%". None for anything else. FSTARGET: to_target().
std::optional<FairShareTarget> to_cap(std::string_view text);

/// A credential's own target, or that of [DEFAULT] where it has none or 0; none where neither has one.
std::optional<FairShareTarget> effective_target(const std::optional<FairShareTarget>& own,
                                                const std::optional<FairShareTarget>& fallback);

/// The distance of usage from the target, in the direction that counts: target - usage in percent points, or the ratio
/// 1 - usage / target (Maui's FSPOLICY "%"). It is 0 for caps and for a target of 0, which means none.
double fs_discrepancy(const FairShareTarget& target, double usage_percent, bool is_ratio = false);
/// What `mdiag -f` marks with a star: a floor that is missed, a ceiling that is passed, a target off by more than 5.
bool is_off_target(const FairShareTarget& target, double usage_percent);

/// A cap and a job that would add `request`; all in the metric's unit. The request is not added to the total, as in
/// Maui. A target that is no cap admits everything, and a relative cap admits everything while total usage is 0.
/// Whether `usage` is decayed is the caller's choice: a windowed or decayed ledger's usage(), or charged() for a cap on
/// undecayed usage.
bool cap_admits(const FairShareTarget& cap, double usage, double total, double request);
/// The value that is compared with the cap: usage + request, for a relative cap in percent of the total.
double cap_projection(const FairShareTarget& cap, double usage, double total, double request);

/// One credential's part of a job's fair-share component (user, group, account, QoS, class).
struct FsPart {
    std::optional<FairShareTarget> target;
    double usage_percent = 0;
    double weight = 0;  ///< FSUSERWEIGHT … plus the credential's own FSWEIGHT
    double cap = 0;     ///< FSUSERCAP …: bounds the discrepancy upwards; 0 or less: none
};
/// FSWEIGHT * min(FSCAP, sum of weight * min(cap, discrepancy)); 0 or less for a cap: none. Caps bound only upwards.
double fs_component(std::span<const FsPart> parts, double fs_weight, double fs_cap = 0, bool is_ratio = false);

/// Targets down the share tree. Each tier's discrepancy is that of usage as a percentage of its parent's; a leaf's is
/// the weighted mean over its tiers, the tier under the root weighing 1 and each below it tier_weight times the one
/// above: below 1 the parents' discrepancies dominate, above 1 the children's. In ratio mode a tier's discrepancy is
/// clamped to [-1, 1]. The factor is 1/2 for usage as entitled, 1 far below and 0 far above the targets. Ranks are by
/// the factor rounded to 2^-32.
struct Moab {
    static constexpr RanksBy ranks_by = RanksBy::factor;
    double tier_weight = 0.5;  ///< above 0
    bool is_ratio = false;

    /// A node's targets are those in the tree (a floor and a ceiling are possible together), else its part of its
    /// siblings' shares, in percent.
    void evaluate(const ShareTree& tree, const Measures& measures, Standings& into) const;
    /// norm_shares is the target, effective_usage the usage, both of the parent's; level_fs their ratio.
    NodeStanding node_standing(const ShareTree& tree, const Measures& measures, NodeId id) const;

  private:
    struct Path;
    Path below(Path path, const ShareTree& tree, std::span<const CoreMicros> usage, NodeId id) const;
};

}  // namespace weir
