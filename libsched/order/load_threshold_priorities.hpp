// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the load-aware priority of waiting jobs: the integral of the machine's E over the time between events. Must not
// know the scheduler; one that reserves above a priority gets P_th x load_threshold_scale.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "libsched/config/policy_settings.hpp"
#include "libsched/job.hpp"
#include "libsched/order/course.hpp"
#include "libsched/order/order_terms.hpp"

namespace weir {

/// A priority in the queue is P times this, so that a thousandth of P counts.
inline constexpr double load_threshold_scale = 1000;

/// P = Y + k * integral of max(E, E_min) in minutes, Y the queue's priority. P may exceed P_th: jobs beyond the
/// threshold are ordered by P. The machine is a pool: its load is the busy part of its cores, for CPU and RAM.
/// Events come in order of time; an earlier instant is taken as the last one.
class LoadThresholdPriorities {
  public:
    LoadThresholdPriorities(const PolicySettings& settings, std::int64_t machine_cores);
    /// New settings: what jobs gained is kept; a job gets its new Y at its next put().
    void configure(const PolicySettings& settings, Instant at);

    /// Jobs have small ids, which may be used again after remove(). The job waits in that queue from `now` on; a job
    /// that waits already keeps what it gained. O(log queues).
    void put(JobId id, const std::string& queue, Instant at);
    /// The job stops waiting for now (a hold); what it gained is kept.
    void pause(JobId id, Instant at);
    /// The job stops waiting for good.
    void remove(JobId id, Instant at);
    /// Jobs took so many cores, or (negative) released them.
    void use(std::int64_t cores, Instant at);
    void set_machine(std::int64_t cores, Instant at);

    /// Appends the waiting jobs whose values differ from those appended before. O(jobs).
    void prioritize(Instant now, std::vector<std::pair<JobId, std::uint32_t>>& changed);
    /// The value of one job.
    /// REQUIRES, here and below: the job waits.
    std::uint32_t value(JobId id, Instant now) const { return value_of(standing(id, now)); }

    double score() const;
    LoadThreshold::Standing standing(JobId id, Instant now) const { return standing(entries_[id.value], gained(now)); }
    OrderTerms explain(JobId id, Instant now) const;
    /// Assumes that the machine's load does not change; valid as long as this object. Without submission and id.
    Course course(JobId id) const;

  private:
    struct Entry {
        double base = 0;   ///< Y
        double spent = 0;  ///< gained by the machine's load before this job waited
        double kept = 0;   ///< gained before a pause
        std::uint32_t appended = 0;
        bool waits = false;
        bool is_paused = false;
    };
    void advance(Instant now);
    double gained(Instant now) const;
    /// \param gained  what a job that has waited since the beginning gained until then
    LoadThreshold::Standing standing(const Entry& entry, double gained) const {
        return policy_.rule.standing(entry.base, gained - entry.spent + entry.kept);
    }
    /// The value before rounding to the nearest integer.
    static double number_of(const LoadThreshold::Standing& standing);
    static std::uint32_t value_of(const LoadThreshold::Standing& standing);

    LoadThresholdPolicy policy_;
    std::map<std::string, double> queues_;
    double cores_;
    double busy_ = 0;
    double gained_ = 0;  ///< by a job that has waited since the beginning, until now_
    Instant now_{};      ///< the last event
    bool has_begun_ = false;
    std::vector<Entry> entries_;  ///< by id
};

}  // namespace weir
