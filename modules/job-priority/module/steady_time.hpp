// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the time of usage: the wall clock less its steps. A stock job-manager stamps events with the wall clock, so a
// difference of two stamps over a step is no duration. Must not read a clock.
#pragma once
#include <algorithm>
#include <utility>

#include "libfairshare/base/step_watch.hpp"
#include "libfairshare/base/time.hpp"

namespace weir::priority {

/// Both clocks at one moment, in the instance's seconds.
struct ClockReading {
    Instant wall;
    Duration monotonic{};
};

class SteadyTime {
  public:
    /// Begins at the wall clock, but not before `earliest`. A wall clock that lags more than a few steps' least size
    /// was set back. One that lags less is waited for, and stamps stand as they are: an embedded broker marks its clock
    /// each second, and after a kill begins at the last mark, before times that were committed after it.
    /// \param step_min  as of StepWatch
    SteadyTime(const ClockReading& first, Instant earliest, Duration step_min)
        : watch_(first.wall, first.monotonic, step_min),
          wall_(first.wall),
          earliest_(earliest),
          ahead_(first.wall + 5 * step_min < earliest ? first.wall - earliest : Duration{}),
          ahead_before_(ahead_) {}

    /// Returns the step since the last call; 0: none.
    Duration look(const ClockReading& reading) {
        const Duration step = watch_.step(reading.wall, reading.monotonic);
        wall_ = reading.wall;
        if (step != Duration{}) {
            ahead_before_ = std::exchange(ahead_, ahead_ + step);
        }
        return step;
    }
    /// As of the last look().
    Instant now() const { return std::max(wall_ - ahead_, earliest_); }
    /// The steps that times are less.
    Duration ahead() const { return ahead_; }

    /// When a live event happened that bears `stamp`: less the steps. Live events come in order and are read soon, so
    /// a stamp that would lie before the last one or ahead of now was put on before the last step, and is less the
    /// steps until then. If neither fits, it counts as the nearer of these two. REQUIRES: look() since it came.
    Instant live(Instant stamp) {
        Instant time = stamp - ahead_;
        if (!is_live(time) && is_live(stamp - ahead_before_)) {
            time = stamp - ahead_before_;
        }
        if (!is_live(time)) {
            time = std::clamp(time, std::min(last_live_, now()), now());
        }
        last_live_ = std::max(last_live_, time);
        return time;
    }
    /// The same for an event of a backlog.
    Instant past(Instant stamp) const {
        const Instant time = stamp - ahead_;
        return time > now() + watch_.step_min() ? now() : time;
    }

  private:
    bool is_live(Instant time) const {
        return time >= last_live_ - watch_.step_min() && time <= now() + watch_.step_min();
    }

    StepWatch watch_;
    Instant wall_;
    Instant earliest_;
    Duration ahead_;
    Duration ahead_before_;  ///< ahead_ before the last step
    Instant last_live_{};
};

}  // namespace weir::priority
