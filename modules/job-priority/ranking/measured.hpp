// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the measures of every node at one instant, as input of the algorithms. Must not know where they come from.
#pragma once
#include <cstdint>
#include <vector>

#include "libfairshare/algorithms/measures.hpp"
#include "libfairshare/usage/usage_ledger.hpp"

namespace weir::priority {

/// By NodeId of one tree.
struct Measured {
    UsageSnapshot usage;
    std::vector<DynamicUse> dynamic;
    std::vector<std::uint64_t> demand;
    std::uint64_t capacity = 0;  ///< cores of the instance; 0: not known

    Measures measures() const { return {usage.usage, dynamic, demand, capacity}; }
    /// Adds entries for the leaves added by with_member(): they have no usage.
    void grow(std::uint32_t nodes) {
        usage.usage.resize(nodes, 0);
        if (!dynamic.empty()) {
            dynamic.resize(nodes);
        }
        if (!demand.empty()) {
            demand.resize(nodes, 0);
        }
    }
};

}  // namespace weir::priority
