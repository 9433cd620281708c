// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the number of tasks that each association gets when tasks need several resources: hierarchical dominant
// resource fairness.
// Must not know: usage over time, ranks. Source: Bhattacharya et al., Hierarchical Scheduling for Diverse Datacenter
// Workloads, SoCC 2013 (H-DRF). For one resource in fluid form: deserved_shares.hpp.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "libfairshare/tree/share_tree.hpp"

namespace weir {

/// The request of one association.
struct TaskDemand {
    std::vector<std::uint64_t> each;  ///< of a task, by resource, in the units of the capacity
    std::uint64_t tasks = 0;          ///< wanted at once
};

/// Tasks for each association, by NodeId, all at once from an idle machine. Each task goes from the root down to the
/// sibling with the least dominant share for its shares, ties in listed order. A leaf's dominant share is its greatest
/// part of any resource; an account's is that of the sum of its children, each first scaled down to the least dominant
/// share among those not blocked, so that one child's surplus in a resource without other demand does not count against
/// its siblings. A leaf is blocked when its demand is met or a resource that it needs is used up; an account is blocked
/// when all nodes below are. A node without shares gets nothing. A leaf with `parent` shares counts as one share at its
/// level. demand: by NodeId; only entries of associations are read. capacity: by resource, each 1 to 2^40. Integers:
/// parts are in units of 2^-40 of a resource, rounded down. O(tasks x path x siblings x resources).
std::vector<std::uint64_t> hierarchical_drf(const ShareTree& tree, std::span<const TaskDemand> demand,
                                            std::span<const std::uint64_t> capacity);

}  // namespace weir
