// SPDX-License-Identifier: LGPL-3.0-only
// Owns: replaying one log under several policies at once, one thread a policy, as many at a time as there are cores;
// watching and stopping them. Must not know files nor how results are shown.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cmd/instance/signals.hpp"
#include "cmd/sim/comparison.hpp"
#include "libsched/sim/queue_order.hpp"
#include "modules/replay/tree_replay.hpp"

namespace weir::cmd {

struct PlannedReplay {
    std::string name;
    Policy scheduler;
    std::optional<SimTree> tree;  ///< none: one pool under `scheduler`
    std::string order_name = "submission";
    WithoutShares without_shares;
    /// Makes the order of the queue for one replay; nullptr as a result: order of submission. Called from threads.
    std::function<Result<std::unique_ptr<QueueOrder>>()> order;
};

struct ReplayResults {
    std::vector<Replayed> replays;          ///< in the order of the plan; those without a start are left out
    std::vector<Replayed> without_starts;   ///< no job could start, or the replay was interrupted before
    std::vector<Measured> measures;         ///< by place in `replays`
    std::uint64_t fair_starts_planned = 0;  ///< under each policy
    bool is_interrupted = false;
};

/// The progress of all replays. Fair starts are replays too, and their jobs count.
struct ReplayProgress {
    double part = 0;  ///< the fraction of the jobs to be replayed, as far as their number is known; it can decrease
    std::uint64_t jobs = 0;            ///< replayed
    std::uint64_t fair_starts = 0;     ///< found
    std::uint64_t fair_starts_of = 0;  ///< to be found; 0: no policy has reached this stage
};

struct ReplayWatch {
    std::function<void(const ReplayProgress&)> progress;
    /// Fair starts are found for the same jobs under all policies: for all jobs where that is possible under each
    /// policy (fair_start.hpp), else for so many, drawn by `seed`. 0: no fair starts at all.
    std::uint32_t fair_start_sample = 100;
    std::uint64_t seed = 1;
};

/// `jobs` in order of submission. After a signal the result is what was replayed until then, with the fair starts that
/// were found under every policy; a second signal ends the process. Error: the first one in the order of the plan.
Result<ReplayResults> replay_all(const std::vector<PlannedReplay>& plan, const Yardstick& yardstick,
                                 const std::vector<SimJob>& jobs, Signals& signals, const ReplayWatch& watch);

}  // namespace weir::cmd
