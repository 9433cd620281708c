// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the load-aware priority of waiting jobs: E of the machine between events, added up. Must not know the
// scheduler; one that reserves above a priority gets P_th x load_threshold_scale.
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

/// A priority in a queue is so many times P, so that a thousandth counts.
inline constexpr double load_threshold_scale = 1000;

/// P = Y + k * integral of max(E, E_min) in minutes, Y the queue's priority. What exceeds P_th stays: those at the
/// threshold go by it. The machine is a pool: its load is the part of its cores that is busy, of CPU and RAM.
/// Events come in order of time; an earlier instant counts as the last one.
class LoadThresholdPriorities {
  public:
    LoadThresholdPriorities(const PolicySettings& settings, std::int64_t machine_cores);
    /// Other settings from now on: what was gained stays; a job's Y is that of its next put().
    void configure(const PolicySettings& settings, Instant at);

    /// Jobs have small ids, which may be another's once the job is gone. It waits in that queue from now on; where it
    /// waited already, it keeps what it gained. O(log queues).
    void put(JobId id, const std::string& queue, Instant at);
    /// It waits no more, but may later (a hold): what it gained stays.
    void pause(JobId id, Instant at);
    /// It waits no more.
    void remove(JobId id, Instant at);
    /// Jobs took so many cores, or (negative) gave them back.
    void use(std::int64_t cores, Instant at);
    void set_machine(std::int64_t cores, Instant at);

    /// Appends the waiting jobs whose values differ from what was said of them before. O(jobs).
    void prioritize(Instant now, std::vector<std::pair<JobId, std::uint32_t>>& changed);
    /// Of one waiting job.
    /// REQUIRES: it waits; here and below.
    std::uint32_t value(JobId id, Instant now) const { return value_of(standing(id, now)); }

    double score() const;
    LoadThreshold::Standing standing(JobId id, Instant now) const { return standing(entries_[id.value], gained(now)); }
    OrderTerms explain(JobId id, Instant now) const;
    /// The machine's load stays as it is; valid while this does. Without submission and id.
    Course course(JobId id) const;

  private:
    struct Entry {
        double base = 0;   ///< Y
        double spent = 0;  ///< of what the machine had given: not this job's
        double kept = 0;   ///< gained before a pause
        std::uint32_t told = 0;
        bool waits = false;
        bool is_paused = false;
    };
    void advance(Instant now);
    double gained(Instant now) const;
    /// `gained`: what a job that waits since the beginning has by then.
    LoadThreshold::Standing standing(const Entry& entry, double gained) const {
        return policy_.rule.standing(entry.base, gained - entry.spent + entry.kept);
    }
    /// What the value is the nearest whole number of.
    static double number_of(const LoadThreshold::Standing& standing);
    static std::uint32_t value_of(const LoadThreshold::Standing& standing);

    LoadThresholdPolicy policy_;
    std::map<std::string, double> queues_;
    double cores_;
    double busy_ = 0;
    double gained_ = 0;  ///< by a job that waits since the beginning, until now_
    Instant now_{};      ///< the last event
    bool has_begun_ = false;
    std::vector<Entry> entries_;  ///< by id
};

}  // namespace weir
