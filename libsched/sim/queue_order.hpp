// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the interface between a replay and the order of its queue: the replay reports events, the order returns
// priorities. Without one the queue is in order of submission. Must not know policies or resources.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "libsched/sim/sim_job.hpp"

namespace weir {

class QueueOrder {
  public:
    virtual ~QueueOrder() = default;

    // The events at an instant, in the replay's order: ends, then submissions; starts after the pass. `id` belongs to
    // the job until its end, then it may be used for another.
    virtual void submitted(const SimJob& job, JobId id, Instant now) = 0;
    virtual void started(const SimJob& job, JobId id, Instant now) = 0;
    virtual void ended(const SimJob& job, JobId id, Instant now) = 0;

    /// Called before each scheduling pass: appends the pending jobs whose priorities differ from the last yielded ones.
    /// A job without a yielded priority has priority_min.
    virtual void prioritize(Instant now, std::vector<std::pair<JobId, std::uint32_t>>& changed) = 0;
    /// When a pass is needed without an event (for priorities that grow with time); `never`: only at events. An instant
    /// in the past means none. Called while jobs wait and an end or a submission is still to come.
    virtual Instant wakes() const { return never; }
    /// When a job that is held back may be let go without an event; `never`: only at one. A replay goes on until then,
    /// also if nothing else is to come. As of the last prioritize().
    virtual Instant lets_go() const { return never; }

    // The next two functions say which passes a replay may leave out while no pending job could start in any order; by
    // default none.
    /// wakes() (which is below `before`), or the last of the instants below `before` at which it would wake without
    /// events: earlier passes are left out.
    virtual Instant wakes_last(Instant /*before*/) const { return wakes(); }
    /// Whether the result of prioritize() depends only on the events and `now`, and not on earlier calls: then calls
    /// may be left out.
    virtual bool forgets_asking() const { return false; }
};

}  // namespace weir
