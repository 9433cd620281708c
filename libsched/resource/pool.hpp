// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which cores, gpus and memory of which nodes are free. It allocates the lowest cores of the chosen nodes, so the
// same history gives the same cores. Nothing is allocated twice, and nothing is freed that was not allocated. Must not
// know time, queues or policies; which nodes are chosen is placement.hpp's.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "libfairshare/base/resource_set.hpp"
#include "libsched/priority/load_threshold.hpp"
#include "libsched/resource/node_sets.hpp"
#include "libsched/resource/placement.hpp"

namespace weir {

class ResourcePool {
  public:
    struct Node {
        std::uint32_t rank;
        IdSet cores;  ///< all of them
        IdSet gpus;
        std::uint32_t memory_mib;
        IdSet free;  ///< subset of cores; kept while the node is down, too
        IdSet free_gpus;
        std::uint32_t free_memory_mib;
        bool is_up;
        std::optional<NodeLoad> load;  ///< measured; ram_size 0: unknown, memory_mib is used instead
    };

    ResourcePool() = default;
    /// All is free; nodes whose rank is in `up` are up. REQUIRES: ranks ascending, each once.
    ResourcePool(const ResourceSet& all, const IdSet& up, NodeChoice choice = NodeChoice::first);

    const std::vector<Node>& nodes() const { return nodes_; }
    std::uint64_t total_cores() const { return total_; }
    /// Free cores of nodes that are up.
    std::uint64_t free_cores() const { return free_; }
    /// The free resources by node; none where the node is down.
    std::span<const Amounts> free_by_node() const { return free_by_node_; }
    NodeChoice choice() const { return choice_; }
    /// Index into nodes(); none: no such rank.
    std::optional<std::size_t> index_of(std::uint32_t rank) const;

    void set_up(const IdSet& ranks, bool up);
    /// Removes nodes permanently (RFC 27 shrink), even if jobs hold cores there.
    void shrink(const IdSet& ranks);
    /// A new measurement of a node; ranks that are not here are ignored. A node counts as at least as busy as its
    /// allocated cores, so that jobs count that started after the measurement.
    void set_load(std::uint32_t rank, const NodeLoad& load);

    /// Sets of nodes for Request::node_set. Every keep needs its drop.
    std::uint32_t keep_set(const IdSet& ranks) { return sets_.keep(ranks, ranks_); }
    void drop_set(std::uint32_t number) { sets_.drop(number); }
    const NodeSets& sets() const { return sets_; }

    /// The nodes for a request, given the usable resources of each node, `preferred` first (by node; may be empty).
    std::optional<std::vector<Pick>> place(const Request& request, std::span<const Amounts> usable,
                                           std::span<const Amounts> preferred) const;
    /// REQUIRES: each pick is free.
    ResourceSet take(const std::vector<Pick>& picks);
    /// Allocates exactly these (for a job that ran before the scheduler started). Nothing changes on failure.
    Status claim(const ResourceSet& set);
    /// Frees resources. Ranks that shrink() removed are ignored. Nothing changes on failure.
    Status release(const ResourceSet& set);

    /// Whether an empty machine with all nodes up could run it; else an error that says what is too much.
    Status feasible(const Request& request) const;
    /// Whether the nodes that are up could run it if they were empty.
    bool feasible_now(const Request& request) const;

    /// Total number of nodes that place() has looked at; a node that was allocated or freed counts as many.
    std::uint64_t looked_at() const { return looked_at_; }

  private:
    void recount(std::size_t index);
    std::string refusal(const Request& request) const;

    NodeChoice choice_ = NodeChoice::first;
    std::vector<Node> nodes_;            ///< ranks ascending
    std::vector<std::uint32_t> ranks_;   ///< of nodes_
    std::vector<Amounts> whole_;         ///< all resources of each node
    std::vector<Amounts> free_by_node_;  ///< the free resources of each node, none if it is down
    std::vector<std::uint64_t> score_;   ///< E of each node in millionths
    std::uint64_t total_ = 0;
    std::uint64_t free_ = 0;  ///< sum of the cores of free_by_node_
    NodeSets sets_;
    mutable std::uint64_t looked_at_ = 0;
};

}  // namespace weir
