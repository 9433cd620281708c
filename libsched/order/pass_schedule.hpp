// SPDX-License-Identifier: LGPL-3.0-only
// Owns: when all jobs are recomputed, and how old the measured inputs may be. Must not know orders nor clocks.
#pragma once
#include <optional>

#include "libsched/job.hpp"

namespace weir::order {

/// A burst of events within a thirtieth of the interval costs one evaluation of the share tree.
inline constexpr std::int64_t evaluations_per_interval = 30;

/// From when on an evaluation of that instant is too old.
constexpr Instant stale_at(Instant evaluated, Duration interval) {
    return evaluated + interval / evaluations_per_interval;
}
/// Whether an evaluation of that instant (none: there is no valid one) is too old at `now`.
constexpr bool is_stale(std::optional<Instant> evaluated, Instant now, Duration interval) {
    return !evaluated || now < *evaluated || now >= stale_at(*evaluated, interval);
}

/// One full pass an interval; interval 0: always.
class PassSchedule {
  public:
    explicit PassSchedule(Duration interval) : interval_(interval) {}
    Duration interval() const { return interval_; }
    bool is_full(Instant now) const { return now >= next_; }
    void passed(Instant now) { next_ = now + interval_; }
    /// `never` with interval 0.
    Instant next() const { return interval_ > Duration{} ? next_ : never; }
    /// The last full pass before `before`, if passes are one interval apart. REQUIRES: next() < before.
    Instant last(Instant before) const {
        const Duration left = before - Duration{1} - next_;
        return next_ + left / interval_ * interval_;
    }

  private:
    Duration interval_;
    Instant next_ = Instant::min();
};

}  // namespace weir::order
