// SPDX-License-Identifier: LGPL-3.0-only
// Owns: sums over resource sets.
#include "libfairshare/base/resource_set.hpp"

namespace weir {

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
