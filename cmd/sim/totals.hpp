// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the figures of a replay that need no memory of jobs: means, maxima, utilisation. Quantiles and fairness need
// every job: libsched/sim/metrics, `weir sim compare`.
#pragma once
#include <algorithm>
#include <cstdint>

#include "libsched/sim/sim_job.hpp"
#include "libsched/sim/slowdown.hpp"

namespace weir::cmd {

class Totals {
  public:
    /// In any order; sums of numbers with decimals differ with it in their last digits.
    void add(const Outcome& outcome) {
        const double wait = to_seconds(outcome.wait());
        const double run = to_seconds(outcome.job.run);
        const double slowdown = bounded_slowdown(outcome.wait(), outcome.job.run);
        first_submit_ = std::min(first_submit_, outcome.job.submit);
        last_end_ = std::max(last_end_, outcome.end());
        ++jobs_;
        wait_s_ += wait;
        wait_max_ = std::max(wait_max_, outcome.wait());
        slowdown_ += slowdown;
        slowdown_max_ = std::max(slowdown_max_, slowdown);
        core_s_ += run * outcome.job.cores;
    }
    std::uint64_t jobs() const { return jobs_; }
    double wait_mean_s() const { return mean(wait_s_); }
    Duration wait_max() const { return wait_max_; }
    /// Of bounded_slowdown().
    double slowdown_mean() const { return mean(slowdown_); }
    double slowdown_max() const { return slowdown_max_; }
    /// From the first submission to the last end.
    Duration makespan() const { return jobs_ > 0 ? last_end_ - first_submit_ : Duration{}; }
    /// Part of `cores` that ran jobs in that time.
    double utilization(std::int64_t cores) const { return utilization(cores, makespan()); }
    /// The same in `span`.
    double utilization(std::int64_t cores, Duration span) const {
        const double all = to_seconds(span) * static_cast<double>(cores);
        return all > 0 ? core_s_ / all : 0;
    }

  private:
    double mean(double sum) const { return jobs_ > 0 ? sum / static_cast<double>(jobs_) : 0; }

    std::uint64_t jobs_ = 0;
    double wait_s_ = 0, slowdown_ = 0, slowdown_max_ = 0, core_s_ = 0;
    Duration wait_max_{};
    Instant first_submit_ = never, last_end_ = Instant::min();
};

}  // namespace weir::cmd
