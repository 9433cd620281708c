// SPDX-License-Identifier: LGPL-3.0-only
// Owns: HTCondor's hierarchical group quotas: what each group may use, and which groups get what others leave unused.
// Must not know: machines, jobs, matchmaking, users within a group. Source: HTCondor manual, user priorities and
// negotiation, group accounting; the negotiator's rules where the manual is silent.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace weir {

struct CondorGroup {
    std::optional<std::uint32_t> parent;  ///< an index before its own; none: a group under the root, "<none>"
    double quota = 0;         ///< GROUP_QUOTA, slots; or GROUP_QUOTA_DYNAMIC, a part of what the parent has, in [0, 1]
    bool is_dynamic = false;  ///< which of the two
    bool accepts_surplus = false;   ///< GROUP_ACCEPT_SURPLUS: may pass its quota by what others leave unused
    bool regroups = false;          ///< GROUP_AUTOREGROUP: competes again in the root for the rest at the end
    double wanted = 0;              ///< slots that its own jobs use or ask for, those of groups below aside
    double effective_priority = 1;  ///< above 0: its priority in the root, the lower the better
};

struct CondorGroupSlots {
    double subtree_quota = 0;  ///< of the group and all below it
    double own_quota = 0;      ///< what the quotas of the groups below leave it
    double allocated = 0;      ///< to the group's own jobs, surplus included
    double regrouped = 0;      ///< of `allocated`: what it got in the root in the end
};

/// Quotas from the top: static ones first (together no more than there is, scaled down in proportion, unless
/// oversubscription is allowed), dynamic ones are parts of the rest (together no more than 1, scaled likewise); none is
/// ever scaled up. Then slots from the bottom: each group gets what it wants up to its own quota; what a group and
/// those below it leave is divided among it and those of its children that accept surplus, in proportion to their
/// quotas, to those without quota last and equally; what remains there goes up a level. At the end the groups that
/// regroup share what is left, by priority, as in pie_slices(). Slots may be fractions. If oversubscription is allowed,
/// the allocations may exceed the total: each is an upper bound for its group. REQUIRES: parents come before their
/// children; quotas and wanted not negative; slots not negative. O(n^2) at worst.
std::vector<CondorGroupSlots> negotiate_groups(std::span<const CondorGroup> groups, double slots,
                                               bool allow_oversubscription);

}  // namespace weir
