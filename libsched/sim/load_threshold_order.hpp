// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the load-aware priority in a replay: E of the machine between events, added up. Must not know the scheduler;
// one that reserves above a priority gets P_th x load_threshold_scale. ADR 0092.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "libsched/config/policy_settings.hpp"
#include "libsched/sim/queue_order.hpp"

namespace weir {

/// A priority in a queue is so many times P, so that a thousandth counts.
inline constexpr double load_threshold_scale = 1000;

/// P = Y + k * integral of max(E, E_min) in minutes, Y the queue's priority. What exceeds P_th stays: those at the
/// threshold go by it. The log's machine is a pool: its load is the part of its cores that is busy, of CPU and RAM.
class LoadThresholdOrder final : public QueueOrder {
  public:
    LoadThresholdOrder(const PolicySettings& settings, std::int64_t machine_cores);

    void submitted(const SimJob& job, JobId id, Instant now) override;
    void started(const SimJob& job, JobId id, Instant now) override;
    void ended(const SimJob& job, JobId id, Instant now) override;
    /// O(waiting).
    void prioritize(Instant now, std::vector<std::pair<JobId, std::uint32_t>>& changed) override;
    Instant wakes() const override { return interval_ > Duration{} ? told_ + interval_ : never; }
    Instant wakes_last(Instant before) const override { return last_step(wakes(), interval_, before); }
    bool forgets_asking() const override { return interval_ == Duration{}; }

    double score() const;
    LoadThreshold::Standing standing(JobId id) const;

  private:
    struct Entry {
        double base = 0;    ///< Y
        double gained = 0;  ///< what the machine had given when the job was submitted
        std::uint32_t told = 0;
        bool waits = false;
    };
    void advance(Instant now);
    double gained(Instant now) const;

    LoadThresholdPolicy policy_;
    std::map<std::string, double> queues_;
    Duration interval_;
    double cores_;
    double busy_ = 0;
    double gained_ = 0;  ///< by a job that waits since the beginning, until now_
    Instant now_{};      ///< the last event
    bool has_begun_ = false;
    Instant told_{};
    double gained_told_ = 0;      ///< as gained_, until told_
    std::vector<Entry> entries_;  ///< by id
};

}  // namespace weir
