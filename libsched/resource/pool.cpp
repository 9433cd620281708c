// SPDX-License-Identifier: LGPL-3.0-only
// Owns: taking and giving back. Every count is derived from the sets in one place, recount().
#include "libsched/resource/pool.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "libsched/resource/words.hpp"

namespace weir {
namespace {

/// Allocating or freeing a part of a node, with its sets of cores, takes as long as looking at so many nodes.
constexpr std::uint64_t looks_of_change = 32;

double part_taken(std::uint64_t free, std::uint64_t all) {
    return all == 0 ? 0. : 1. - static_cast<double>(free) / static_cast<double>(all);
}

/// E in millionths: a whole number, so that the order of nodes is exact.
std::uint64_t score_of(const ResourcePool::Node& node) {
    const ResourceWeights weights;
    NodeLoad load = node.load.value_or(NodeLoad{0., weights.cpu_speed_min, 0., 0.});
    load.cpu_load = std::max(load.cpu_load, part_taken(node.free.count(), node.cores.count()));
    load.ram_usage = std::max(load.ram_usage, part_taken(node.free_memory_mib, node.memory_mib));
    load.ram_size = load.ram_size > 0. ? load.ram_size : static_cast<double>(node.memory_mib);
    return static_cast<std::uint64_t>(std::llround(resource_score(load, weights).score * 1e6));
}

}  // namespace

ResourcePool::ResourcePool(const ResourceSet& all, const IdSet& up, NodeChoice choice) : choice_(choice) {
    for (const NodeResources& node : all.nodes) {
        nodes_.push_back(Node{node.rank, node.cores, node.gpus, node.memory_mib, node.cores, node.gpus, node.memory_mib,
                              up.contains(node.rank), std::nullopt});
        WEIR_CHECK(nodes_.size() < 2 || nodes_[nodes_.size() - 2].rank < node.rank);
        ranks_.push_back(node.rank);
        whole_.push_back({static_cast<std::uint32_t>(node.cores.count()), static_cast<std::uint32_t>(node.gpus.count()),
                          node.memory_mib});
        total_ += node.cores.count();
    }
    free_by_node_.resize(nodes_.size());
    score_.resize(nodes_.size());
    for (std::size_t i = 0; i < nodes_.size(); i++) {
        recount(i);
    }
}

void ResourcePool::recount(std::size_t index) {
    const Node& node = nodes_[index];
    free_ -= free_by_node_[index].cores;
    free_by_node_[index] = node.is_up
                               ? Amounts{static_cast<std::uint32_t>(node.free.count()),
                                         static_cast<std::uint32_t>(node.free_gpus.count()), node.free_memory_mib}
                               : Amounts{};
    free_ += free_by_node_[index].cores;
    if (choice_ == NodeChoice::least_loaded) {
        score_[index] = score_of(node);
    }
}

std::optional<std::size_t> ResourcePool::index_of(std::uint32_t rank) const {
    const auto place = std::lower_bound(ranks_.begin(), ranks_.end(), rank);
    return place != ranks_.end() && *place == rank ? std::optional(static_cast<std::size_t>(place - ranks_.begin()))
                                                   : std::nullopt;
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
    std::size_t kept = 0;
    for (std::size_t i = 0; i < nodes_.size(); i++) {
        if (ranks.contains(nodes_[i].rank)) {
            total_ -= whole_[i].cores;
            continue;
        }
        if (kept != i) {
            nodes_[kept] = std::move(nodes_[i]);
            ranks_[kept] = ranks_[i];
            whole_[kept] = whole_[i];
        }
        kept++;
    }
    nodes_.erase(nodes_.begin() + static_cast<std::ptrdiff_t>(kept), nodes_.end());
    ranks_.resize(kept);
    whole_.resize(kept);
    score_.assign(kept, 0);
    free_by_node_.assign(kept, {});
    free_ = 0;
    for (std::size_t i = 0; i < kept; i++) {
        recount(i);
    }
    sets_.rebind(ranks_);
}

void ResourcePool::set_load(std::uint32_t rank, const NodeLoad& load) {
    if (const auto index = index_of(rank)) {
        nodes_[*index].load = load;
        recount(*index);
    }
}

std::optional<std::vector<Pick>> ResourcePool::place(const Request& request, std::span<const Amounts> usable,
                                                     std::span<const Amounts> preferred) const {
    looked_at_ += usable.size();
    return weir::place(request, {choice_, usable, preferred, whole_, score_, sets_.at(request.node_set)});
}

ResourceSet ResourcePool::take(const std::vector<Pick>& picks) {
    looked_at_ += looks_of_change * picks.size();
    ResourceSet taken;
    taken.nodes.reserve(picks.size());
    for (const Pick& pick : picks) {
        Node& node = nodes_[pick.node];
        WEIR_CHECK(free_by_node_[pick.node].holds(pick.amounts));
        node.free_memory_mib -= pick.amounts.memory_mib;
        taken.nodes.push_back({node.rank, node.free.take_lowest(pick.amounts.cores),
                               node.free_gpus.take_lowest(pick.amounts.gpus), pick.amounts.memory_mib});
        recount(pick.node);
    }
    std::sort(taken.nodes.begin(), taken.nodes.end(), [](const auto& a, const auto& b) { return a.rank < b.rank; });
    return taken;
}

Status ResourcePool::claim(const ResourceSet& set) {
    const auto busy = [](const char* kind, const IdSet& wanted, const IdSet& free, std::uint32_t rank) {
        return Error{std::errc::device_or_resource_busy, std::string(kind) + " " + wanted.encode() + " of rank " +
                                                             std::to_string(rank) + " are not free (" + free.encode() +
                                                             " are)"};
    };
    for (const NodeResources& part : set.nodes) {
        const auto index = index_of(part.rank);
        if (!index) {
            return Error{std::errc::no_such_device, "rank " + std::to_string(part.rank) + " is not in this instance"};
        }
        const Node& node = nodes_[*index];
        if (!node.free.includes(part.cores)) {
            return busy("cores", part.cores, node.free, part.rank);
        }
        if (!node.free_gpus.includes(part.gpus)) {
            return busy("gpus", part.gpus, node.free_gpus, part.rank);
        }
        if (part.memory_mib > node.free_memory_mib) {
            return Error{std::errc::device_or_resource_busy, std::to_string(part.memory_mib) + " MiB of rank " +
                                                                 std::to_string(part.rank) + " are not free (" +
                                                                 std::to_string(node.free_memory_mib) + " are)"};
        }
    }
    for (const NodeResources& part : set.nodes) {
        const std::size_t index = *index_of(part.rank);
        nodes_[index].free.remove(part.cores);
        nodes_[index].free_gpus.remove(part.gpus);
        nodes_[index].free_memory_mib -= part.memory_mib;
        recount(index);
    }
    return Done{};
}

Status ResourcePool::release(const ResourceSet& set) {
    looked_at_ += looks_of_change * set.nodes.size();
    for (const NodeResources& part : set.nodes) {
        const auto index = index_of(part.rank);
        if (!index) {
            continue;
        }
        const Node& node = nodes_[*index];
        const bool held = node.cores.includes(part.cores) && !node.free.intersects(part.cores) &&
                          node.gpus.includes(part.gpus) && !node.free_gpus.intersects(part.gpus) &&
                          part.memory_mib <= node.memory_mib - node.free_memory_mib;
        if (!held) {
            return Error{std::errc::invalid_argument,
                         "cores " + part.cores.encode() + (part.gpus.empty() ? "" : ", gpus " + part.gpus.encode()) +
                             " of rank " + std::to_string(part.rank) + " are not all held"};
        }
    }
    for (const NodeResources& part : set.nodes) {
        if (const auto index = index_of(part.rank)) {
            nodes_[*index].free.add(part.cores);
            nodes_[*index].free_gpus.add(part.gpus);
            nodes_[*index].free_memory_mib += part.memory_mib;
            recount(*index);
        }
    }
    return Done{};
}

bool ResourcePool::feasible_now(const Request& request) const {
    std::vector<Amounts> up(whole_);
    for (std::size_t i = 0; i < nodes_.size(); i++) {
        up[i] = nodes_[i].is_up ? whole_[i] : Amounts{};
    }
    return place(request, up, {}).has_value();
}

Status ResourcePool::feasible(const Request& request) const {
    return place(request, whole_, {}) ? Status(Done{}) : Error{std::errc::invalid_argument, refusal(request)};
}

std::string ResourcePool::refusal(const Request& request) const {
    const std::vector<bool>* in_set = sets_.at(request.node_set);
    Amounts largest;
    std::uint64_t fitting = 0;
    std::uint64_t allowed = 0;
    std::uint64_t cores = 0;
    for (std::size_t i = 0; i < nodes_.size(); i++) {
        if (in_set == nullptr || (*in_set)[i]) {
            allowed++;
            cores += whole_[i].cores;
            fitting += request.nodes > 0 && needed_on(request, whole_[i]) ? 1 : 0;
            largest = {std::max(largest.cores, whole_[i].cores), std::max(largest.gpus, whole_[i].gpus),
                       std::max(largest.memory_mib, whole_[i].memory_mib)};
        }
    }
    const std::string start = "unsatisfiable request: the job asks for ";
    if (in_set != nullptr && allowed == 0) {
        return start + "nodes that satisfy its constraints; none of the " + plural(nodes_.size(), "node") + " does";
    }
    const std::string has =
        in_set == nullptr ? "this instance has "
                          : "of the " + plural(allowed, "node") + " that satisfy its constraints, this instance has ";
    const Amounts each = amounts_of(request, request.nodes > 0 ? request.slots : 1);
    // A kind that was not requested is not mentioned.
    largest = {largest.cores, each.gpus > 0 ? largest.gpus : 0, each.memory_mib > 0 ? largest.memory_mib : 0};
    const std::string lacking = each.memory_mib > 0 && largest.memory_mib == 0 ? "; of no node the memory is known"
                                : each.gpus > 0 && largest.gpus == 0           ? "; no node has gpus"
                                                                               : "";
    if (request.nodes > 0) {
        return start + plural(request.nodes, "node") + " with " + words_of(each) + " each; " + has +
               plural(allowed, "node") + ", " + std::to_string(fitting) + " of them that large (the largest has " +
               words_of(largest) + ")" + lacking;
    }
    if (cores_of(request) > cores) {
        return start + plural(cores_of(request), "core") + "; " + has + std::to_string(cores);
    }
    return start + plural(request.slots, "slot") + " of " + words_of(each) + ", each on one node; the nodes" +
           (in_set == nullptr ? " of this instance" : " that satisfy its constraints") + " have at most " +
           words_of(largest) + " and cannot hold them all" + lacking;
}

}  // namespace weir
