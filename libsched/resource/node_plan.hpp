// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what is free of each node from now on, by what runs (believed ends) and what is reserved: the nodes'
// counterpart of AvailabilityProfile, for policies with more than one reservation. Must not know jobs' priorities or
// policies.
#pragma once
#include <optional>
#include <unordered_map>
#include <vector>

#include "libsched/resource/pool.hpp"

namespace weir {

class NodePlan {
  public:
    /// So much of these nodes, kept from `at` until `end`.
    struct Place {
        Instant at = never;
        Instant end = never;
        std::vector<Pick> picks;  ///< empty: the job is believed never to fit
    };

    /// As the pool is now; nothing is believed to come back. O(nodes).
    NodePlan(const ResourcePool& pool, Instant now);
    Instant now() const { return steps_.front().at; }

    /// `room` of a node is free from `at` on, or is not when `sign` is -1. O(nodes) when nothing else happens then, and
    /// O(steps) from then on.
    void change(Instant at, std::uint32_t node, const Room& room, int sign);
    void hold(const Place& place) { change(place, -1); }
    void drop(const Place& place) { change(place, 1); }

    /// The earliest place from `from` on where `request` fits until `limit` is over, or until `horizon`. O(steps^2 x
    /// nodes) at worst: once for each step at which it might begin, each as long as the request fits.
    Place earliest(const ResourcePool& pool, const Request& request, Duration limit, Instant from,
                   Instant horizon) const;
    /// Only now.
    std::optional<std::vector<Pick>> fits_now(const ResourcePool& pool, const Request& request, Instant end) const;

  private:
    /// Signed: a place that was kept may be on a node that has gone down.
    struct Amount {
        std::int64_t cores = 0;
        std::int64_t gpus = 0;
        std::int64_t memory_mib = 0;
    };
    struct Step {
        Instant at;
        std::vector<Amount> free;  ///< by node, until the next step
    };

    std::size_t step_at(Instant at);
    void change(const Place& place, int sign);
    std::optional<std::vector<Pick>> fits(const ResourcePool& pool, const Request& request, std::size_t step,
                                          Instant end) const;

    std::vector<Step> steps_;  ///< the first is now
};

}  // namespace weir
