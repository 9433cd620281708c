// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the resources of an instance as values: nodes with their cores, GPUs and memory, and their form as R. Must not
// know where they come from. Source: RFC 20 version 1 by libfairshare/base/json/r.hpp.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "libfairshare/base/json/r.hpp"
#include "libfairshare/base/result.hpp"

namespace weir::broker {

struct Node {
    std::string host;
    IdSet cores;
    IdSet gpus;
    std::uint32_t memory_mib = 0;  // 0: not known
};

/// Ranks are positions in `nodes`.
struct Inventory {
    std::vector<Node> nodes;
    std::map<std::string, IdSet> properties;  // name -> ranks
    double expiration = 0;                    // seconds since the epoch, 0: none

    std::size_t core_count() const;
    std::size_t gpu_count() const;
    IdSet ranks() const;
    R r() const;
    /// R of these ranks alone.
    Json to_r_of(const IdSet& ranks) const;
    /// R as JSON; of no nodes at all: the empty R.
    Json to_r() const { return encode_r(r()); }
    /// The same, each node's cores and GPUs numbered from 0 in their order.
    Inventory numbered_from_zero() const;
};

/// Reads R. Ranks are numbered anew from 0 in their order, since a slice of the parent's nodes is all of a child's.
/// \return an error that says which part is missing or wrong.
Result<Inventory> inventory_from_r(const Json& document);

/// Takes the memory of the nodes from the scheduler's part of R. \return an error that names the entry; then nothing
/// has changed.
Status take_memory(const Json& scheduling, Inventory& inventory);

}  // namespace weir::broker
