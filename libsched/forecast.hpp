// SPDX-License-Identifier: LGPL-3.0-only
// Owns: why a pending job waits, in words, and its estimated start, from a copy of the scheduler that is played
// forward. Must not know messages or clocks.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "libsched/scheduler.hpp"

namespace weir {

/// The start of a job if no other job comes and every job runs to its limit.
struct Forecast {
    std::optional<Instant> start;
    /// The budget ran out: without `start`, the job does not start before this.
    std::optional<Instant> not_before;
};
/// Advances from one expected end to the next and runs a pass at each. `budget` bounds the number of jobs that passes
/// look at. A job that never starts has neither value: it is held, or needs nodes that are down, or what runs never
/// ends.
Forecast forecast(const Scheduler& scheduler, JobId id, Instant now, std::uint64_t budget);

enum class WaitReason : std::uint8_t {
    held,         ///< priority 0
    nodes_down,   ///< too few of the suitable nodes are up
    resources,    ///< the requested resources are not free
    order,        ///< it would fit, but the policy starts no job before `behind`
    reservation,  ///< it would fit, but would delay `behind`
    next_pass,    ///< nothing: the next pass may start it
};
std::string_view name_of(WaitReason reason);

struct Waiting {
    WaitReason reason = WaitReason::resources;
    std::uint64_t place = 0;           ///< in the queue, from 1
    std::optional<JobId> behind;       ///< the first pending job, if that is another one
    std::optional<Instant> behind_at;  ///< its estimated start
    std::string text;                  ///< in words, without job ids and times
};
/// Nothing if the job is not pending. O(jobs before it + nodes).
std::optional<Waiting> why_waiting(const Scheduler& scheduler, JobId id, Instant now);

}  // namespace weir
