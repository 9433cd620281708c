// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the input of an algorithm about the nodes of a tree besides their shares. Must not know where it comes from.
#pragma once
#include <cstdint>
#include <span>

#include "libfairshare/tree/share_tree.hpp"
#include "libfairshare/usage/dynamic_use.hpp"
#include "libfairshare/usage/usage.hpp"

namespace weir {

/// One span for each measure, indexed by NodeId with an entry for every node; empty if the caller does not have it.
/// `usage` is always required: an account's is at least the sum of its children's, and each is at most usage_max.
struct Measures {
    std::span<const CoreMicros> usage;
    std::span<const DynamicUse> dynamic = {};    ///< needed by dynamic-user; empty: everything 0
    std::span<const std::uint64_t> demand = {};  ///< cores wanted now, running and pending; empty: unlimited
    std::uint64_t capacity = 0;                  ///< cores of the machine; 0: unknown
};

/// A node's part of the root's usage; 0 where that is 0.
inline double part_of_all(std::span<const CoreMicros> usage, NodeId id) {
    const CoreMicros all = usage[root_node.value];
    return all == 0 ? 0.0 : usage_as_double(usage[id.value]) / usage_as_double(all);
}

}  // namespace weir
