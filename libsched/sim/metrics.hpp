// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the figures of a replay for jobs and for the machine: waits, slowdowns, utilisation, loss of capacity. Must not
// know users, shares, nor how figures are shown. Fairness: fairness.hpp.
#pragma once
#include <cstdint>
#include <vector>

#include "libsched/sim/slowdown.hpp"
#include "libsched/sim/timeline.hpp"

namespace weir {

/// The distribution of values. The quantile q of n sorted values is number floor(q n), counted from 0 (no
/// interpolation), so the median of two is the greater. All 0 where there are none.
struct Spread {
    double mean = 0;
    double median = 0;
    double p95 = 0;
    double p99 = 0;
    double max = 0;
};
/// O(n) expected.
Spread spread_of(std::vector<double> values);

inline double bounded_slowdown(const Outcome& outcome) {
    return bounded_slowdown(outcome.wait(), outcome.job.run);
}

/// (sum x)^2 / (n sum x^2), in [1/n, 1]; 1: all alike. 1 where there are none or all are 0. Source: Jain, Chiu, Hawe,
/// DEC-TR-301, 1984.
double jain_index(const std::vector<double>& values);

/// Mean difference of two values over twice their mean, in [0, 1 - 1/n]; 0: all alike. Source: Gini 1912.
double gini_index(std::vector<double> values);

struct JobMetrics {
    std::uint64_t jobs = 0;
    Spread wait_s;    ///< start - submit
    Spread slowdown;  ///< bounded_slowdown()
    /// sum(area wait) / sum(area), area = cores x run: independent of how work is split into jobs. 0 if nothing ran.
    double wait_area_weighted_s = 0;
    /// Of the response (wait + run) instead of the wait. "AWF" in Goponenko, SBAC-PAD 2022.
    double response_area_weighted_s = 0;
    /// sum(n (F^2 - W^2) F) / sum(n (F^2 - W^2)), n cores, W wait, F = W + run: the specific-response-weighted mean
    /// with p = 1, also independent of splitting a job in time. Source: Goponenko, SBAC-PAD 2022 (P2SF).
    double response_specific_weighted_s = 0;
    std::uint64_t large_jobs = 0;
    double wait_large_s = 0;    ///< mean of jobs of at least a quarter of the machine; 0 where there are none
    std::uint64_t starved = 0;  ///< waits above JobMetricsSum::starved_after
};

/// Adds outcome by outcome, in any order; 16 bytes a job, for the quantiles.
class JobMetricsSum {
  public:
    static constexpr Duration starved_after = std::chrono::hours(24 * 7);

    explicit JobMetricsSum(std::int64_t machine_cores) : cores_(machine_cores) {}
    void add(const Outcome& outcome);
    JobMetrics metrics() const;

  private:
    std::int64_t cores_;
    JobMetrics sums_;
    double area_ = 0, specific_ = 0;
    std::vector<double> waits_, slowdowns_;
};

struct MachineMetrics {
    Duration makespan{};  ///< last end - first submission
    /// sum(run cores) / (machine x makespan), in [0,1].
    double utilization = 0;
    /// The same between the first and the last submission: without the queue's draining. 0 where that span is empty.
    double utilization_to_last_submit = 0;
    /// Mean over the makespan of min(idle cores, cores that wait) / machine, in [0,1]: the capacity that was idle
    /// although jobs waited. Source: Leung, Sabin, Sadayappan, ICPP Workshops 2010 ("loss of capacity").
    double capacity_lost = 0;
};
/// O(n).
MachineMetrics machine_metrics(const Timeline& timeline, std::int64_t machine_cores);

/// One of equal parts of the makespan.
struct MachineSample {
    Instant from;
    double busy = 0;     ///< mean running cores
    double waiting = 0;  ///< mean waiting cores
};
/// `parts` samples, at least 1; empty where nothing took any time. O(n + parts).
std::vector<MachineSample> machine_history(const Timeline& timeline, std::size_t parts);

}  // namespace weir
