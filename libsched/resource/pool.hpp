// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which cores of which nodes are free, exactly: allocation takes the lowest cores of the lowest ranks that fit,
// so the same history gives the same cores. Nothing is given twice, nothing is freed that was not held. Must not know
// time, queues or policies. gpus go with whole nodes only.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "libsched/job.hpp"
#include "libsched/resource/resource_set.hpp"

namespace weir {

class ResourcePool {
  public:
    struct Node {
        std::uint32_t rank;
        IdSet cores;  ///< all of them
        IdSet gpus;
        IdSet free;  ///< subset of cores; kept while the node is down, too
        bool is_up;
    };
    /// So many cores of one node.
    struct Pick {
        std::uint32_t node;  ///< index into nodes()
        std::uint32_t cores;
    };

    ResourcePool() = default;
    /// All cores free; nodes whose rank is in `up` are up. REQUIRES: ranks ascending, each once.
    ResourcePool(const ResourceSet& all, const IdSet& up);

    const std::vector<Node>& nodes() const { return nodes_; }
    std::uint64_t total_cores() const { return total_; }
    /// Free cores of nodes that are up.
    std::uint64_t free_cores() const { return free_; }
    /// Free cores by node; 0 where the node is down.
    std::span<const std::uint32_t> free_by_node() const { return free_by_node_; }

    void set_up(const IdSet& ranks, bool up);
    /// Removes nodes for good (RFC 27 shrink), whoever holds cores there.
    void shrink(const IdSet& ranks);

    /// Where a request would go, given what may be used of each node, `preferred` cores first (by node; may be empty).
    /// Lowest ranks first. O(nodes).
    std::optional<std::vector<Pick>> place(const Request& request, std::span<const std::uint32_t> usable,
                                           std::span<const std::uint32_t> preferred) const;
    /// REQUIRES: each pick is free.
    ResourceSet take(const std::vector<Pick>& picks);
    /// Takes exactly these cores (a job that ran before the scheduler did). Nothing changes on failure.
    Status claim(const ResourceSet& set);
    /// Gives cores back. Cores of ranks that shrink() removed are ignored. Nothing changes on failure.
    Status release(const ResourceSet& set);

    /// Whether an empty machine with all nodes up could run it; else a sentence that says what is too much.
    Status feasible(const Request& request) const;

  private:
    Node* node_of(std::uint32_t rank);
    void recount(std::size_t index);

    std::vector<Node> nodes_;                  ///< ranks ascending
    std::vector<std::uint32_t> free_by_node_;  ///< free.count() of each node, 0 when it is down
    std::uint64_t total_ = 0;
    std::uint64_t free_ = 0;  ///< sum of free_by_node_
};

}  // namespace weir
