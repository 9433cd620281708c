// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the resources of an instance as values: nodes with their cores and GPUs, and their form as R. Must not know
// where they come from. Source: RFC 20 version 1.
#pragma once
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
};

/// Reads R. Ranks are numbered anew from 0 in their order, since a slice of the parent's nodes is all of a child's.
/// @return an error that says which part is missing or wrong.
Result<Inventory> inventory_from_r(const Json& r);

}  // namespace weir::broker
