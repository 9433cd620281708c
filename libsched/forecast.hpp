// SPDX-License-Identifier: LGPL-3.0-only
// Owns: why a waiting job waits, in words, and when it is believed to start: the scheduler's own future, played forward
// on a copy. Must not know messages or clocks. ADR 0126.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "libsched/scheduler.hpp"

namespace weir {

/// When a job starts if nobody else comes and every job runs to its limit.
struct Forecast {
    std::optional<Instant> start;
    /// The budget ran out: without `start`, the job does not start before this.
    std::optional<Instant> not_before;
};
/// Steps from one believed end to the next and lets the policy pass at each. `budget` counts jobs that passes look at.
/// A job that never starts (held, or only nodes that are down could hold it, or what runs never ends) gets neither.
Forecast forecast(const Scheduler& scheduler, JobId id, Instant now, std::uint64_t budget);

enum class WaitReason : std::uint8_t {
    held,         ///< priority 0
    nodes_down,   ///< too few of the nodes that will do are up
    resources,    ///< what it asks for is not free
    order,        ///< it would fit, but the policy starts nobody before `behind`
    reservation,  ///< it would fit, but would hold up `behind`
    next_pass,    ///< nothing: the next pass may start it
};
std::string_view name_of(WaitReason reason);

struct Waiting {
    WaitReason reason = WaitReason::resources;
    std::uint64_t place = 0;           ///< in the queue, from 1
    std::optional<JobId> behind;       ///< the first job that waits, where that is another one
    std::optional<Instant> behind_at;  ///< when that is believed to start
    std::string text;                  ///< in words, without job ids and times
};
/// Nothing when the job does not wait. O(jobs before it + nodes).
std::optional<Waiting> why_waiting(const Scheduler& scheduler, JobId id, Instant now);

}  // namespace weir
