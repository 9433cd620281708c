// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which nodes an operator has drained and why, and what is to be drained in a child because its parent's operator
// drained the node. Must not know Flux or messages. Source: flux-resource(1) drain, undrain.
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "libfairshare/base/id_set.hpp"
#include "libfairshare/base/json/json.hpp"
#include "libfairshare/base/resource_set.hpp"
#include "libfairshare/base/result.hpp"

namespace weir::route {

/// The reason of each drained rank.
using Drains = std::map<std::uint32_t, std::string>;

/// What makes a child's drains those that its parent wants.
struct DrainPlan {
    std::map<std::string, IdSet> drain;    ///< by reason: not drained yet
    std::map<std::string, IdSet> replace;  ///< by reason: drained for the parent with an older reason
    IdSet undrain;                         ///< drained for the parent, which no longer drains them
    bool empty() const { return drain.empty() && replace.empty() && undrain.empty(); }
};

/// The reason in a child of a drain in its parent. It is the same at every level below.
std::string reason_below(const std::string& reason);
/// A drain that has not such a reason is the child's own operator's: it is not touched. O(present + wanted).
DrainPlan plan_drains(const Drains& present, const Drains& wanted);

/// {"0-1": "fan", ...}: for a child.
Json encode_drains(const Drains& drains);
/// Of encode_drains(), and of resource.status, where an object with the reason stands for the reason.
/// Errors: no object, no ranks, more than 2^20 ranks.
Result<Drains> decode_drains(const json_t* value);

/// Of these nodes, the cores that no job has. Both are sorted by rank. O(nodes).
std::int64_t free_cores(const ResourceSet& nodes, const ResourceSet& allocated);

}  // namespace weir::route
