// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what a [[partition]] table says, as values. Must not know JSON, files or jobs.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "libfairshare/base/time.hpp"
#include "modules/job-route/partition_limits.hpp"
#include "modules/job-route/partition_rules.hpp"

namespace weir::route {

/// The queue of the child instances' own jobs, where the configuration has it. Where there are partitions, no other
/// user's job uses it: it would take cores from a partition that starts.
inline constexpr const char* instance_queue = "instances";

/// A child instance that its parent keeps: it is started, restarted when it dies, and replaced when its table changes.
struct PartitionSpec {
    std::string name;
    std::size_t place = 0;                  ///< in the configuration
    bool is_added = false;                  ///< by `weir partition`: it starts after those of the configuration
    std::vector<std::string> queues;        ///< of the parent, at least one
    std::vector<std::string> overflow;      ///< queues whose jobs it runs while none of its own wait
    std::int64_t nodes = 0;                 ///< 0: cores on any nodes, at least one node otherwise
    std::int64_t cores = 1;                 ///< on each node; in all, where nodes is 0
    std::uint32_t memory_per_node_mib = 0;  ///< 0: none is reserved for it
    std::string hosts;                      ///< RFC 29 host list; empty: any
    std::vector<std::string> properties;
    std::string scheduler;             ///< module, "sched-weir-easy"
    std::vector<std::string> options;  ///< its arguments
    bool is_on_demand = false;         ///< it starts when a job waits for it
    Duration idle{};                   ///< without a job for so long, it ends; 0: never
    PartitionRules takes;              ///< the jobs that it takes, of those of its queues; none larger than a limit
    PartitionLimits limits;            ///< of the jobs that run in it
    std::string config;      ///< JSON object that its instance reads on top of its generated configuration; or empty
    std::string partitions;  ///< JSON array of partitions of its own, or empty
    int folder = 0;          ///< of its latest instance, as on record: the next one has its jobs (PartitionInstance)
    std::string digest;      ///< differs where an instance must be replaced to follow a change

    std::int64_t cores_in_all() const { return cores * std::max<std::int64_t>(1, nodes); }
    friend bool operator==(const PartitionSpec&, const PartitionSpec&) = default;
};

}  // namespace weir::route
