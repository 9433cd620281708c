// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the seam between a replay and what orders its queue: a replay tells what happens, an order answers with
// priorities. Without one the queue stands in order of submission. Must not know policies or resources.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "libsched/sim/sim_job.hpp"

namespace weir {

class QueueOrder {
  public:
    virtual ~QueueOrder() = default;

    // What happens at an instant, in the replay's order: ends, then submissions; starts after the pass. `id` is the
    // job's until its end, then may be given to another.
    virtual void submitted(const SimJob& job, JobId id, Instant now) = 0;
    virtual void started(const SimJob& job, JobId id, Instant now) = 0;
    virtual void ended(const SimJob& job, JobId id, Instant now) = 0;

    /// Before each scheduling pass: appends the waiting jobs whose priorities differ from what was said of them before.
    /// A job of which nothing was ever said has priority_min.
    virtual void prioritize(Instant now, std::vector<std::pair<JobId, std::uint32_t>>& changed) = 0;
    /// When a pass is wanted although nothing happens (priorities that grow by themselves); `never`: at events alone.
    /// An instant that is past is none. Asked while jobs wait and something is still to come: an end or a submission.
    virtual Instant wakes() const { return never; }

    // What a replay may leave out while nobody who waits could start, whatever the order; both by default: nothing.
    /// wakes() (which is below `before`), or the last of the instants below `before` at which it would wake if nothing
    /// happened: those until then need not be.
    virtual Instant wakes_last(Instant /*before*/) const { return wakes(); }
    /// Whether what prioritize() says depends on what happened and `now` alone, not on when it was asked before: then
    /// it need not be asked.
    virtual bool forgets_asking() const { return false; }

  protected:
    /// first + n x interval, n as great as goes below `before`. REQUIRES: first < before.
    static Instant last_step(Instant first, Duration interval, Instant before) {
        const Duration left = before - Duration{1} - first;
        return first + left / interval * interval;
    }
};

}  // namespace weir
