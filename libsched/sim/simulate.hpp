// SPDX-License-Identifier: LGPL-3.0-only
// Owns: replaying a workload through the production policies: at each instant with an event first all terminations,
// then all submissions, then one pass (traces' reference semantics). Jobs run for their actual time, the policy
// believes start + limit, nothing is killed. Must not know files, metrics or priorities beyond submission order.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "libfairshare/base/result.hpp"
#include "libsched/policy/policy.hpp"
#include "libsched/resource/resource_set.hpp"
#include "libsched/sim/sim_job.hpp"

namespace weir {

struct SimCounters {
    std::uint64_t passes = 0;
    std::uint64_t considered = 0;  ///< jobs looked at by all passes
};

/// Start of each job, by place in `jobs`, which are in order of submission. Error: a job that is larger than the
/// machine.
Result<std::vector<Instant>> simulate(std::span<const SimJob> jobs, std::int64_t cores, const Policy& policy,
                                      SimCounters* counters = nullptr);
/// The same on nodes, by the space that the scheduler module uses.
Result<std::vector<Instant>> simulate_on_nodes(std::span<const SimJob> jobs, const ResourceSet& machine,
                                               const Policy& policy, SimCounters* counters = nullptr);

}  // namespace weir
