// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a set of resources: cores, gpus and memory of nodes, by execution target rank, of a job or of a machine. Must
// not know which job holds it, host names or JSON (R, RFC 20, is libfairshare/base/json/r.hpp).
#pragma once
#include <cstdint>
#include <vector>

#include "libfairshare/base/id_set.hpp"

namespace weir {

struct NodeResources {
    std::uint32_t rank = 0;
    IdSet cores;
    IdSet gpus;
    std::uint32_t memory_mib = 0;  ///< 0: not known (of a machine), not requested (of a job)
    friend bool operator==(const NodeResources&, const NodeResources&) = default;
};

struct ResourceSet {
    std::vector<NodeResources> nodes;  ///< ranks ascending, each once
    friend bool operator==(const ResourceSet&, const ResourceSet&) = default;
};

std::uint64_t core_count(const ResourceSet& set);
IdSet ranks_of(const ResourceSet& set);

}  // namespace weir
