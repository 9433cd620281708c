// SPDX-License-Identifier: LGPL-3.0-only
// Owns: amounts on one node: so many cores, gpus and so much memory, added, taken away and compared together.
// Must not know which cores they are, nor of which node.
#pragma once
#include <algorithm>
#include <cstdint>

#include "libfairshare/base/resource_set.hpp"
#include "libsched/job.hpp"

namespace weir {

struct Amounts {
    std::uint32_t cores = 0;
    std::uint32_t gpus = 0;
    std::uint32_t memory_mib = 0;

    bool holds(const Amounts& other) const {
        return cores >= other.cores && gpus >= other.gpus && memory_mib >= other.memory_mib;
    }
    Amounts& operator+=(const Amounts& other) {
        cores += other.cores;
        gpus += other.gpus;
        memory_mib += other.memory_mib;
        return *this;
    }
    /// REQUIRES: holds(other).
    Amounts& operator-=(const Amounts& other) {
        cores -= other.cores;
        gpus -= other.gpus;
        memory_mib -= other.memory_mib;
        return *this;
    }
    friend Amounts operator-(Amounts a, const Amounts& b) { return a -= b; }
    friend bool operator==(const Amounts&, const Amounts&) = default;
};

inline Amounts amounts_of(const NodeResources& node) {
    return {static_cast<std::uint32_t>(node.cores.count()), static_cast<std::uint32_t>(node.gpus.count()),
            node.memory_mib};
}

/// What both have, kind by kind.
constexpr Amounts least(const Amounts& a, const Amounts& b) {
    return {std::min(a.cores, b.cores), std::min(a.gpus, b.gpus), std::min(a.memory_mib, b.memory_mib)};
}

/// How many of the request's slots fit into `amounts`, at most `most`.
constexpr std::uint32_t slots_in(const Amounts& amounts, const Request& request, std::uint32_t most) {
    std::uint32_t slots = std::min(most, amounts.cores / request.cores_per_slot);
    if (request.gpus_per_slot > 0) {
        slots = std::min(slots, amounts.gpus / request.gpus_per_slot);
    }
    if (request.memory_per_slot_mib > 0) {
        slots = std::min(slots, amounts.memory_mib / request.memory_per_slot_mib);
    }
    return slots;
}

/// What so many slots take. REQUIRES: it fits a node.
constexpr Amounts amounts_of(const Request& request, std::uint32_t slots) {
    return {slots * request.cores_per_slot, slots * request.gpus_per_slot, slots * request.memory_per_slot_mib};
}

}  // namespace weir
