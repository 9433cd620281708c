// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the order of the queue at the root of a replay: the jobs that wait, and their priorities. Must not know
// partitions, messages, or where a job waits. It does what job-priority does, at once.
#pragma once
#include <cstdint>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "libsched/sim/queue_order.hpp"
#include "modules/job-route/messages.hpp"

namespace weir::replay {

class RootQueue {
  public:
    using Priorities = std::vector<std::pair<route::LocalId, std::uint32_t>>;

    /// \param order  null: order of submission
    explicit RootQueue(QueueOrder* order) : order_(order) {}

    void submitted(route::LocalId id, const SimJob& job, Instant now);
    /// Its allocation is on record.
    void allocated(route::LocalId id, const SimJob& job, Instant now);
    /// Its end was reported.
    void finished(route::LocalId id, const SimJob& job, Instant now);
    /// Whether events since the last prioritize() require another.
    bool wants_order() const { return wants_order_; }
    /// The priorities that changed and the first ones of new jobs, by id. O(changes log changes).
    Priorities prioritize(Instant now);

    /// Jobs whose allocation is not on record.
    std::size_t waiting() const { return waiting_.size(); }
    /// The first of them in the log. REQUIRES: waiting() > 0. O(waiting()).
    route::LocalId first_waiting() const;
    /// The least cores that one of them requests. REQUIRES: waiting() > 0.
    std::uint32_t least_cores() const { return waiting_.begin()->first; }
    /// When time alone changes the order; never: no job waits, or it does not.
    Instant wakes() const { return is_asked() ? order_->wakes() : never; }
    /// The last such instant before `next`.
    Instant wakes_last(Instant next) const { return order_->wakes_last(next); }
    /// Whether time alone may let go a job that a limit holds back.
    bool lets_go() const { return is_asked() && order_->lets_go() != never; }

  private:
    struct Entry {
        std::uint32_t slot = 0;  ///< the id that the order knows
        std::uint32_t priority = priority_min;
    };
    bool is_asked() const { return order_ != nullptr && !waiting_.empty(); }
    std::uint32_t new_slot(route::LocalId id);

    QueueOrder* order_;
    std::unordered_map<route::LocalId, Entry> jobs_;  ///< that have not ended
    std::vector<route::LocalId> slots_;
    std::vector<std::uint32_t> unused_;  ///< slots without a job
    std::vector<route::LocalId> fresh_;  ///< without a priority yet
    std::vector<std::pair<JobId, std::uint32_t>> changed_;
    std::set<std::pair<std::uint32_t, route::LocalId>> waiting_;  ///< (cores, id)
    bool wants_order_ = false;
};

}  // namespace weir::replay
