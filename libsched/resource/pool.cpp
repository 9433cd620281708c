// SPDX-License-Identifier: LGPL-3.0-only
// Owns: placement, taking and giving back. Every count is derived from the sets in one place, recount().
#include "libsched/resource/pool.hpp"

#include <algorithm>
#include <string>

namespace weir {
namespace {

std::string plural(std::uint64_t n, const char* noun) {
    return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

std::uint32_t at_or_zero(std::span<const std::uint32_t> values, std::size_t i) {
    return i < values.size() ? values[i] : 0U;
}

/// Cores that one of the request's nodes must give; 0: this node cannot.
std::uint32_t needed_on(const Request& request, const ResourcePool::Node& node) {
    const std::uint64_t least = std::uint64_t{request.slots} * request.cores_per_slot;
    if (least > node.cores.count()) {
        return 0;
    }
    return static_cast<std::uint32_t>(request.exclusive ? node.cores.count() : least);
}

}  // namespace

ResourcePool::ResourcePool(const ResourceSet& all, const IdSet& up) {
    for (const NodeResources& node : all.nodes) {
        nodes_.push_back(Node{node.rank, node.cores, node.gpus, node.cores, up.contains(node.rank)});
        WEIR_CHECK(nodes_.size() < 2 || nodes_[nodes_.size() - 2].rank < node.rank);
        total_ += node.cores.count();
    }
    free_by_node_.resize(nodes_.size());
    for (std::size_t i = 0; i < nodes_.size(); i++) {
        recount(i);
    }
}

void ResourcePool::recount(std::size_t index) {
    free_ -= free_by_node_[index];
    free_by_node_[index] = nodes_[index].is_up ? static_cast<std::uint32_t>(nodes_[index].free.count()) : 0U;
    free_ += free_by_node_[index];
}

ResourcePool::Node* ResourcePool::node_of(std::uint32_t rank) {
    const auto place = std::lower_bound(nodes_.begin(), nodes_.end(), rank,
                                        [](const Node& node, std::uint32_t r) { return node.rank < r; });
    return place != nodes_.end() && place->rank == rank ? &*place : nullptr;
}

void ResourcePool::set_up(const IdSet& ranks, bool up) {
    for (std::size_t i = 0; i < nodes_.size(); i++) {
        if (ranks.contains(nodes_[i].rank)) {
            nodes_[i].is_up = up;
            recount(i);
        }
    }
}

void ResourcePool::shrink(const IdSet& ranks) {
    std::erase_if(nodes_, [&](const Node& node) { return ranks.contains(node.rank); });
    free_by_node_.assign(nodes_.size(), 0);
    total_ = 0;
    free_ = 0;
    for (std::size_t i = 0; i < nodes_.size(); i++) {
        total_ += nodes_[i].cores.count();
        recount(i);
    }
}

std::optional<std::vector<ResourcePool::Pick>> ResourcePool::place(const Request& request,
                                                                   std::span<const std::uint32_t> usable,
                                                                   std::span<const std::uint32_t> preferred) const {
    std::vector<Pick> picks;
    if (request.nodes > 0) {
        // First the nodes that can do it from preferred cores, then the others.
        for (const bool want_preferred : {true, false}) {
            if (want_preferred && preferred.empty()) {
                continue;
            }
            for (std::size_t i = 0; i < nodes_.size() && picks.size() < request.nodes; i++) {
                const std::uint32_t need = needed_on(request, nodes_[i]);
                const bool is_preferred = need > 0 && at_or_zero(preferred, i) >= need;
                if (need > 0 && usable[i] >= need && is_preferred == want_preferred) {
                    picks.push_back({static_cast<std::uint32_t>(i), need});
                }
            }
        }
        return picks.size() == request.nodes ? std::optional(std::move(picks)) : std::nullopt;
    }
    std::uint64_t slots_left = request.slots;
    for (std::size_t i = 0; i < preferred.size() && slots_left > 0; i++) {
        const std::uint64_t slots =
            std::min<std::uint64_t>(slots_left, std::min(usable[i], preferred[i]) / request.cores_per_slot);
        if (slots > 0) {
            picks.push_back(
                {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(slots * request.cores_per_slot)});
            slots_left -= slots;
        }
    }
    std::size_t early = 0;  // walks the picks of the first round, which stand in order of nodes
    const std::size_t early_count = picks.size();
    for (std::size_t i = 0; i < nodes_.size() && slots_left > 0; i++) {
        Pick* pick = early < early_count && picks[early].node == i ? &picks[early++] : nullptr;
        const std::uint32_t rest = usable[i] - (pick != nullptr ? pick->cores : 0U);
        const std::uint64_t slots = std::min<std::uint64_t>(slots_left, rest / request.cores_per_slot);
        const auto cores = static_cast<std::uint32_t>(slots * request.cores_per_slot);
        slots_left -= slots;
        if (pick != nullptr) {
            pick->cores += cores;
        } else if (slots > 0) {
            picks.push_back({static_cast<std::uint32_t>(i), cores});
        }
    }
    return slots_left == 0 ? std::optional(std::move(picks)) : std::nullopt;
}

ResourceSet ResourcePool::take(const std::vector<Pick>& picks) {
    ResourceSet taken;
    taken.nodes.reserve(picks.size());
    for (const Pick& pick : picks) {
        Node& node = nodes_[pick.node];
        WEIR_CHECK(pick.cores <= free_by_node_[pick.node]);
        NodeResources part{node.rank, node.free.take_lowest(pick.cores), {}};
        if (pick.cores == node.cores.count()) {
            part.gpus = node.gpus;
        }
        taken.nodes.push_back(std::move(part));
        recount(pick.node);
    }
    std::sort(taken.nodes.begin(), taken.nodes.end(), [](const auto& a, const auto& b) { return a.rank < b.rank; });
    return taken;
}

Status ResourcePool::claim(const ResourceSet& set) {
    for (const NodeResources& part : set.nodes) {
        const Node* node = node_of(part.rank);
        if (node == nullptr) {
            return Error{std::errc::no_such_device, "rank " + std::to_string(part.rank) + " is not in this instance"};
        }
        if (!node->free.includes(part.cores)) {
            return Error{std::errc::device_or_resource_busy, "cores " + part.cores.encode() + " of rank " +
                                                                 std::to_string(part.rank) + " are not free (" +
                                                                 node->free.encode() + " are)"};
        }
    }
    for (const NodeResources& part : set.nodes) {
        Node* node = node_of(part.rank);
        node->free.remove(part.cores);
        recount(static_cast<std::size_t>(node - nodes_.data()));
    }
    return Done{};
}

Status ResourcePool::release(const ResourceSet& set) {
    for (const NodeResources& part : set.nodes) {
        const Node* node = node_of(part.rank);
        if (node != nullptr && (!node->cores.includes(part.cores) || node->free.intersects(part.cores))) {
            return Error{std::errc::invalid_argument, "cores " + part.cores.encode() + " of rank " +
                                                          std::to_string(part.rank) + " are not all held"};
        }
    }
    for (const NodeResources& part : set.nodes) {
        if (Node* node = node_of(part.rank); node != nullptr) {
            node->free.add(part.cores);
            recount(static_cast<std::size_t>(node - nodes_.data()));
        }
    }
    return Done{};
}

Status ResourcePool::feasible(const Request& request) const {
    std::vector<std::uint32_t> all(nodes_.size());
    std::uint64_t largest = 0;
    std::uint64_t fitting = 0;
    for (std::size_t i = 0; i < nodes_.size(); i++) {
        all[i] = static_cast<std::uint32_t>(nodes_[i].cores.count());
        largest = std::max<std::uint64_t>(largest, all[i]);
        fitting += request.nodes > 0 && needed_on(request, nodes_[i]) > 0 ? 1 : 0;
    }
    if (place(request, all, {})) {
        return Done{};
    }
    std::string why = "unsatisfiable request: the job asks for ";
    if (request.nodes > 0) {
        const std::uint64_t each = std::uint64_t{request.slots} * request.cores_per_slot;
        why += plural(request.nodes, "node") + " with " + plural(each, "core") + " each; this instance has " +
               plural(nodes_.size(), "node") + ", " + std::to_string(fitting) +
               " of them that large (the largest has " + plural(largest, "core") + ")";
    } else if (cores_of(request) > total_) {
        why += plural(cores_of(request), "core") + "; this instance has " + std::to_string(total_);
    } else {
        why += plural(request.slots, "slot") + " of " + plural(request.cores_per_slot, "core") +
               ", each on one node; the nodes of this instance have at most " + plural(largest, "core") +
               " and cannot hold them all";
    }
    return Error{std::errc::invalid_argument, why};
}

}  // namespace weir
