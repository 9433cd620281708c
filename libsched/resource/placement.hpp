// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which nodes a request goes to, given what may be used of each: the first, the best fitting or the least loaded
// ones. A function of its arguments. Must not know which cores, time, queues or policies.
#pragma once
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "libsched/resource/room.hpp"

namespace weir {

/// first: lowest ranks. best_fit: the node on which least is left over; what fits no single node takes the roomiest
/// first, to span few. least_loaded: the highest score (E of the node-load paper). Ties: lowest rank.
enum class NodeChoice : std::uint8_t { first, best_fit, least_loaded };
std::string_view name_of(NodeChoice choice);
/// "first", "best-fit", "least-loaded"; nothing for other names.
std::optional<NodeChoice> node_choice_named(std::string_view name);

/// So much of one node.
struct Pick {
    std::uint32_t node;  ///< index
    Room room;
};

/// What there is to choose from; by node index, all of the same length but where said.
struct Candidates {
    NodeChoice choice = NodeChoice::first;
    std::span<const Room> usable;
    std::span<const Room> preferred;            ///< is used before the rest of `usable`; may be empty
    std::span<const Room> whole;                ///< all that the node has
    std::span<const std::uint64_t> score;       ///< of least_loaded
    const std::vector<bool>* in_set = nullptr;  ///< nodes that will do; none: all
};

/// What one of the request's nodes must give (request.nodes > 0); nothing where this node is too small.
std::optional<Room> needed_on(const Request& request, const Room& whole);

/// O(nodes) for `first`, O(nodes log nodes) else. Nothing: it does not fit.
std::optional<std::vector<Pick>> place(const Request& request, const Candidates& candidates);

}  // namespace weir
