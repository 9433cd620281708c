// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what an algorithm may know about the nodes of a tree besides their shares. Must not know where it comes from.
#pragma once
#include <cstdint>
#include <span>

#include "libfairshare/tree/share_tree.hpp"
#include "libfairshare/usage/dynamic_use.hpp"
#include "libfairshare/usage/usage.hpp"

namespace weir {

/// One span a measure, each indexed by NodeId with an entry for every node; empty where the caller does not have it.
/// `usage` is always needed: an account's at least the sum of its children's, each at most usage_max.
struct Measures {
    std::span<const CoreMicros> usage;
    std::span<const DynamicUse> dynamic = {};    ///< needed by dynamic-user; empty: everything 0
    std::span<const std::uint64_t> demand = {};  ///< cores wanted now, running and pending; empty: no limit to it
    std::uint64_t capacity = 0;                  ///< cores there are to share out; 0: not known
};

/// A node's part of the root's usage; 0 where that is 0.
inline double part_of_all(std::span<const CoreMicros> usage, NodeId id) {
    const CoreMicros all = usage[root_node.value];
    return all == 0 ? 0.0 : usage_as_double(usage[id.value]) / usage_as_double(all);
}

}  // namespace weir
