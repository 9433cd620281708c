// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the load-aware priority in a replay: an adapter from a log's jobs to LoadThresholdPriorities, and when it needs
// a pass. Must not know the scheduler.
#pragma once
#include <vector>

#include "libsched/order/load_threshold_priorities.hpp"
#include "libsched/sim/queue_order.hpp"

namespace weir {

class LoadThresholdOrder final : public QueueOrder {
  public:
    LoadThresholdOrder(const PolicySettings& settings, std::int64_t machine_cores)
        : interval_(settings.update_interval), priorities_(settings, machine_cores) {}

    void submitted(const SimJob& job, JobId id, Instant now) override {
        priorities_.put(id, std::to_string(job.queue), now);
    }
    void started(const SimJob& job, JobId id, Instant now) override {
        priorities_.remove(id, now);
        priorities_.use(job.cores, now);
    }
    void ended(const SimJob& job, JobId, Instant now) override {
        priorities_.use(-static_cast<std::int64_t>(job.cores), now);
    }
    /// O(waiting).
    void prioritize(Instant now, std::vector<std::pair<JobId, std::uint32_t>>& changed) override {
        told_ = now;
        priorities_.prioritize(now, changed);
    }
    Instant wakes() const override { return interval_ > Duration{} ? told_ + interval_ : never; }
    Instant wakes_last(Instant before) const override { return last_step(wakes(), interval_, before); }
    bool forgets_asking() const override { return interval_ == Duration{}; }

    double score() const { return priorities_.score(); }
    /// As of the last time it was asked.
    LoadThreshold::Standing standing(JobId id) const { return priorities_.standing(id, told_); }

  private:
    Duration interval_;
    LoadThresholdPriorities priorities_;
    Instant told_{};
};

}  // namespace weir
