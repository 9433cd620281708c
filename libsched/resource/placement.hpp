// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the choice of nodes for a request, given the usable resources of each: the first, the best fitting or the least
// loaded nodes. A function of its arguments. Must not know which cores, time, queues or policies.
#pragma once
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "libsched/resource/amounts.hpp"

namespace weir {

/// first: lowest ranks. best_fit: the node on which the least is left over; a request that fits no single node takes
/// the nodes with the most free resources first, to span few. least_loaded: the highest score (E of the node-load
/// paper). Ties: lowest rank.
enum class NodeChoice : std::uint8_t { first, best_fit, least_loaded };
std::string_view name_of(NodeChoice choice);
/// "first", "best-fit", "least-loaded"; nothing for other names.
std::optional<NodeChoice> node_choice_named(std::string_view name);

/// Resources of one node.
struct Pick {
    std::uint32_t node;  ///< index
    Amounts amounts;
};

/// The input of the choice; by node index, all of the same length unless stated.
struct Candidates {
    NodeChoice choice = NodeChoice::first;
    std::span<const Amounts> usable;
    std::span<const Amounts> preferred;         ///< is used before the rest of `usable`; may be empty
    std::span<const Amounts> whole;             ///< all resources of the node
    std::span<const std::uint64_t> score;       ///< of least_loaded
    const std::vector<bool>* in_set = nullptr;  ///< suitable nodes; none: all
};

/// The resources that the request needs on one of its nodes (request.nodes > 0); nothing if this node is too small.
std::optional<Amounts> needed_on(const Request& request, const Amounts& whole);

/// Nothing if it does not fit. O(nodes) for `first`, O(nodes log nodes) otherwise.
std::optional<std::vector<Pick>> place(const Request& request, const Candidates& candidates);

}  // namespace weir
