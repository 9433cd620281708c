// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the resources of an instance as values: nodes with their cores, GPUs and memory, and their form as R. Must not
// know where they come from. Source: RFC 20 version 1; memory, which R_lite lacks, as in libsched/json/r.hpp.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "broker/services/idset.hpp"
#include "broker/services/json.hpp"
#include "libfairshare/base/result.hpp"

namespace weir::broker {

struct Node {
    std::string host;
    Ids cores;
    Ids gpus;
    std::uint32_t memory_mib = 0;  // 0: not known
};

/// Ranks are positions in `nodes`.
struct Inventory {
    std::vector<Node> nodes;
    std::map<std::string, Ids> properties;  // name -> ranks
    double expiration = 0;                  // seconds since the epoch, 0: none

    std::size_t core_count() const;
    std::size_t gpu_count() const;
    Ids ranks() const;
    /// R; of no nodes at all: the empty R.
    Json to_r() const;
    /// The same, each node's cores and GPUs numbered from 0 in their order.
    Inventory numbered_from_zero() const;
};

/// Reads R. Ranks are numbered anew from 0 in their order, since a slice of the parent's nodes is all of a child's.
/// \return an error that says which part is missing or wrong.
Result<Inventory> inventory_from_r(const Json& r);

/// Reads the memory from R's part "scheduling": {"weir": {"memory_mib": [{"hosts": "n[0-3]", "value": 65536}]}}, or by
/// "ranks", which are `rank_of`'s keys and its values the places in `nodes`. Other members are ignored.
/// \return an error that names the entry; then nothing has changed.
Status take_memory(const Json& scheduling, const std::map<std::uint32_t, std::uint32_t>& rank_of, Inventory& inventory);

}  // namespace weir::broker
