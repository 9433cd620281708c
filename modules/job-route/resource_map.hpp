// SPDX-License-Identifier: LGPL-3.0-only
// Owns: mapping a child job's resources to the parent's numbers. The child numbers its nodes and cores from zero; its
// n-th node is the n-th node of its own allocation at the parent, its n-th core there the n-th allocated core.
// Must not know jobs. Source: RFC 20.
#pragma once
#include <optional>
#include <string>

#include "libfairshare/base/json/r.hpp"
#include "libfairshare/base/result.hpp"
#include "modules/job-route/drains.hpp"

namespace weir::route {

class ResourceMap {
  public:
    /// \param child_R everything the child has, in the child's numbers; JSON text, may be empty.
    /// \param allocation R of the child instance's own job, in the parent's numbers; JSON text, may be empty. Without
    /// either, or if they differ in shape (another number of nodes, or of cores on one), nothing is mapped.
    /// \param nodes_max that child_R may have. O(nodes).
    /// Errors: child_R is not empty and no R; it has more nodes.
    static Result<ResourceMap> make(const std::string& child_R, const std::string& allocation,
                                    std::uint64_t nodes_max = child_nodes_max);
    /// The bound on the nodes of a child: it may simulate a machine.
    static constexpr std::uint64_t child_nodes_max = 1U << 16;
    /// The same of a guest's, who may ask for it again and again.
    static constexpr std::uint64_t guest_nodes_max = 1U << 12;
    /// Of the child's largest node; 0: child_R is empty.
    std::int64_t node_cores() const { return node_cores_; }
    /// \param job_R R of a job, in the child's numbers; JSON text.
    /// \return R with the parent's ranks, cores, gpus and hosts, with job_R's start and expiration; JSON text of ours
    ///         that decodes. The child's numbers where nothing can be mapped.
    /// Errors: job_R is no R; it names what the child does not have; it is larger than the allocation.
    /// O(nodes x log nodes + ranges of ids), whatever the sets' members are.
    Result<std::string> map(const std::string& job_R) const;
    /// The child's ranks of those of the parent's that are in its allocation. Nothing where nothing can be mapped.
    /// O(nodes x log ranges).
    std::optional<IdSet> ranks_below(const IdSet& ranks) const;

    /// \param drains by the parent's ranks.
    /// \return those of the child's nodes, by the child's ranks; none where nothing can be mapped. O(nodes log drains).
    Drains drains_below(const Drains& drains) const;

  private:
    std::optional<R> child_;  ///< empty: nothing is mapped
    std::optional<R> allocation_;
    std::uint64_t nodes_max_ = child_nodes_max;  ///< that a job in the child may have
    std::int64_t node_cores_ = 0;
};

/// Of a job's R, JSON text, the nodes that are drained: "node[0-1]". Empty where there is no R. O(nodes log drains).
std::string drained_hosts(const std::string& R, const Drains& drains);

}  // namespace weir::route
