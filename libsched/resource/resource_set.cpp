// SPDX-License-Identifier: LGPL-3.0-only
// Owns: sums over resource sets.
#include "libsched/resource/resource_set.hpp"

namespace weir {

Room room_of(const NodeResources& node) {
    return {static_cast<std::uint32_t>(node.cores.count()), static_cast<std::uint32_t>(node.gpus.count()),
            node.memory_mib};
}

std::uint64_t core_count(const ResourceSet& set) {
    std::uint64_t count = 0;
    for (const NodeResources& node : set.nodes) {
        count += node.cores.count();
    }
    return count;
}

IdSet ranks_of(const ResourceSet& set) {
    IdSet ranks;
    for (const NodeResources& node : set.nodes) {
        ranks.add(node.rank);
    }
    return ranks;
}

}  // namespace weir
