// SPDX-License-Identifier: LGPL-3.0-only
// Owns: replaying a workload over an instance and its partitions, which may have partitions too, in simulated time: the
// production RouteTable and ChildLink between the production order of the queue and the production policies, one pass a
// partition. Must not know files, metrics or how priorities are computed.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "libsched/sim/simulate.hpp"
#include "modules/job-route/hand_down.hpp"
#include "modules/job-route/partition_limits.hpp"
#include "modules/job-route/partition_rules.hpp"

namespace weir {

/// A child instance with its own queue and cores. It is there from the beginning to the end. Either it has a scheduler,
/// or partitions to which it hands its jobs down.
struct SimPartition {
    std::string name;
    std::int64_t cores = 1;             ///< >= 1
    std::vector<std::string> queues;    ///< whose jobs it runs, at least one
    std::vector<std::string> overflow;  ///< whose jobs it runs while none of its own waits for its cores
    Policy scheduler = Easy{};          ///< without effect where it has partitions
    route::PartitionRules rules{};      ///< by duration, cores, account and user, of which a log tells
    route::PartitionLimits limits{};
    std::vector<SimPartition> partitions = {};  ///< at most 8 levels; together they have no more cores than it has
};

struct SimTree {
    std::vector<SimPartition> partitions;  ///< at least one
    /// Jobs that a partition gets beyond those for which it has room; >= 1.
    std::int64_t hand_down = route::HandDown::depth_default;
    Duration link_delay{};       ///< of a message between an instance and a partition of it, either way; >= 0
    Duration report_interval{};  ///< a partition reports at multiples of it; 0: whenever the last report is answered
    std::function<std::string(const SimJob&)> queue_of;
    std::function<std::string(const SimJob&)> account_of;  ///< for the rules; without it no job names one
};

/// Why no partition can hold a job.
struct Refusal {
    std::string kind;  ///< "larger than every partition of its queue"; holds no values of the job
    std::string why;   ///< "wants 8 cores; the largest partition of queue batch has 4"
};

/// What is called while a tree is replayed.
struct SimTreeHooks {
    SimHooks common;
    /// A job that does not run. It counts as a place in the log.
    std::function<void(const SimJob& job, const Refusal& refusal)> refused;
};

/// As simulate(), over a tree. At each instant with an event: first all terminations, then all submissions, then the
/// priorities, then messages until none is due, then one pass in each partition. What a pass causes at the same instant
/// follows. `partition` of an outcome's job is the number of the partition that ran it; they count from 1, each before
/// those that it has. The order of the queue is the root's; it gets starts and ends when they are reported to the root.
/// With one partition at each level, no delay and a depth that holds all pending jobs, the starts are those of
/// simulate(). Memory grows with the jobs in the system. Deterministic. Errors: as simulate(), except for jobs that are
/// too large.
Result<SimCounters> simulate_tree(const SimTree& tree, const JobSource& source, const OutcomeSink& sink,
                                  const SimTreeHooks& hooks = {});

}  // namespace weir
