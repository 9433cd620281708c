// SPDX-License-Identifier: LGPL-3.0-only
// Owns: replaying a workload through the production policies: at each instant with an event first all terminations,
// then all submissions, then one pass (traces' reference semantics). Terminations of one instant come by start, then by
// place in the log. Jobs run for their actual time. The policy expects the end at start + limit, and after that at any
// moment; nothing is killed. Must not know files, metrics or how priorities are computed.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <variant>
#include <vector>

#include "libfairshare/base/resource_set.hpp"
#include "libfairshare/base/result.hpp"
#include "libsched/policy/policy.hpp"
#include "libsched/sim/queue_order.hpp"
#include "libsched/sim/sim_job.hpp"

namespace weir {

/// A number of equal cores, or nodes with cores.
using SimMachine = std::variant<std::int64_t, ResourceSet>;

/// The next job in order of submission; nothing: that was the last. An error ends the replay and is its result.
using JobSource = std::function<Result<std::optional<SimJob>>()>;
/// Receives every job when it starts: by start, then in the order of the pass.
using OutcomeSink = std::function<void(const Outcome&)>;

/// Jobs that still wait when nothing is left that could start them: a limit keeps them out for ever.
struct NeverStarted {
    std::uint64_t count = 0;
    std::int64_t first = 0;  ///< the number of the first in the log, where there is one
};

/// How far a replay is and what it cost.
struct SimCounters {
    std::uint64_t passes = 0;
    std::uint64_t considered = 0;  ///< jobs looked at by all passes
    std::uint64_t submitted = 0;
    std::uint64_t started = 0;
    std::uint64_t ended = 0;
    std::uint64_t in_system_max = 0;  ///< most jobs that waited or ran at once; memory grows with this number
    Instant now{};                    ///< the replay's
    NeverStarted never_started;       ///< known at the end; none of a replay that was interrupted
    bool interrupted = false;
};

/// Lets a long replay be watched and stopped.
struct SimControl {
    /// Called every `every` instants with an event; false: stop, and keep what was replayed so far.
    std::function<bool(const SimCounters&)> progress;
    std::uint64_t every = 1 << 14;
};

/// What is called while a replay runs; null: nothing.
struct SimHooks {
    QueueOrder* order = nullptr;  ///< null: jobs wait in order of submission
    const SimControl* control = nullptr;
};

/// Replays what `source` gives; memory grows with the jobs in the system alone, not with the log. Reentrant. Errors,
/// each naming the job: larger than the machine, no cores, a negative time, a submission before that of the job that
/// precedes it. What `sink` received until then stays valid.
Result<SimCounters> simulate(const SimMachine& machine, const Policy& policy, const JobSource& source,
                             const OutcomeSink& sink, const SimHooks& hooks = {});

/// Start of each job, by place in `jobs`, in order of submission.
Result<std::vector<Instant>> simulate(std::span<const SimJob> jobs, const SimMachine& machine, const Policy& policy,
                                      SimCounters* counters = nullptr);

}  // namespace weir
