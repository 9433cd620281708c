// SPDX-License-Identifier: LGPL-3.0-only
// Owns: replaying one log under several policies at once, one thread a policy, as many at a time as there are cores;
// watching and stopping them. Must not know files nor how results are shown.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cmd/instance/signals.hpp"
#include "cmd/sim/comparison.hpp"
#include "libsched/sim/queue_order.hpp"

namespace weir::cmd {

struct PlannedReplay {
    std::string name;
    Policy scheduler;
    std::string order_name = "submission";
    /// What orders the queue, fresh for each replay; nullptr as a result: order of submission. Called from threads.
    std::function<Result<std::unique_ptr<QueueOrder>>()> order;
};

struct ReplayResults {
    std::vector<Replayed> replays;   ///< in the order of the plan; those that never began are left out
    std::vector<Measured> measures;  ///< by place in `replays`
    bool is_interrupted = false;
};

struct ReplayWatch {
    /// Of all jobs of all policies, the part that has started, and their number.
    std::function<void(double part, std::uint64_t jobs)> progress;
    /// Fair starts: jobs looked at where only a sample can be (fair_start.hpp); 0: no fair starts at all.
    std::uint32_t fair_start_sample = 100;
};

/// `jobs` in order of submission. After a signal what was replayed until then is the result. Error: the first one in
/// the order of the plan.
Result<ReplayResults> replay_all(const std::vector<PlannedReplay>& plan, const Yardstick& yardstick,
                                 const std::vector<SimJob>& jobs, Signals& signals, const ReplayWatch& watch);

}  // namespace weir::cmd
