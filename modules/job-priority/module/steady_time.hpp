// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the time of usage: the wall clock less its steps. A stock job-manager stamps events with the wall clock, so a
// difference of two stamps over a step is no duration. An embedded broker's clock does not step. Must not read a clock.
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

/// What stamps the events.
enum class EventClock {
    wall,      ///< a stock Flux: the machine's wall clock, which steps
    instance,  ///< an embedded broker: its own clock, which does not; doc/adr/0192
};

class SteadyTime {
  public:
    /// Begins at the clock of events, but not before `earliest`. If the clock is behind that by less than its lag_max,
    /// time stands still until it catches up, and stamps are not changed. If it is further behind, it was set back.
    /// \param step_min  as of StepWatch
    SteadyTime(const ClockReading& first, Instant earliest, Duration step_min, EventClock clock)
        : watch_(first.wall, first.monotonic, step_min),
          wall_(first.wall),
          earliest_(earliest),
          ahead_(first.wall + lag_max(clock) * step_min < earliest ? first.wall - earliest : Duration{}),
          ahead_before_(ahead_) {}

    /// Returns the step since the last call; 0: none.
    Duration look(const ClockReading& reading) {
        const Duration step = watch_.step(reading.wall, reading.monotonic);
        const Instant last = now();
        wall_ = reading.wall;
        if (step != Duration{}) {
            ahead_before_ = std::exchange(ahead_, ahead_ + step);
            step_from_ = last;
            step_until_ = now();
        }
        return step;
    }
    /// As of the last look().
    Instant now() const { return std::max(wall_ - ahead_, earliest_); }
    /// For so long now() still stands, because the wall clock is behind what was committed.
    Duration lag() const { return now() - (wall_ - ahead_); }
    /// The sum of the steps, by which times are less than the wall clock.
    Duration ahead() const { return ahead_; }

    /// The time of a live event with `stamp`: the stamp less the steps. The event may have been stamped before the last
    /// step and read after it; then only the earlier steps are subtracted. A stamp from after the step gives no time
    /// before the look that preceded the step. A stamp from before the step gives no time after the look that found it.
    /// Both hold up to the drift of the clocks, which counts as part of the step. Live events arrive in order and are
    /// read soon. So if both times are possible, the one nearer to now counts; if none is, the time is clamped.
    /// REQUIRES: look() since the event arrived.
    Instant live(Instant stamp) {
        const Instant time = likely(stamp, last_live_ - watch_.step_min());
        last_live_ = std::max(last_live_, time);
        return time;
    }
    /// The same for a submission. job-ingest stamps it, and the job-manager writes it into the journal up to seconds
    /// later, after events with later stamps. So submissions keep their order, however late some of them are.
    Instant submitted(Instant stamp) const { return likely(stamp, Instant::min()); }
    /// The same for an event of a backlog.
    Instant past(Instant stamp) const {
        const Instant time = stamp - ahead_;
        return time > now() + watch_.step_min() ? now() : time;
    }

  private:
    /// In times of step_min. An embedded broker marks its clock each second. If the wall clock is behind the last mark
    /// that the disk has, it begins there. Times may have been committed after it: up to a second after a kill, up to
    /// what the kernel had not written back after a power failure.
    static int lag_max(EventClock clock) { return clock == EventClock::instance ? 60 : 5; }

    /// \param earliest  an earlier time is not possible
    Instant likely(Instant stamp, Instant earliest) const {
        const auto is_possible = [&](Instant time) { return time >= earliest && time <= now() + watch_.step_min(); };
        const Instant after = stamp - ahead_;
        const Instant before = stamp - ahead_before_;
        const bool may_be_after = is_possible(after) && after >= step_from_ - watch_.step_min();
        const bool may_be_before = is_possible(before) && before <= step_until_ + watch_.step_min();
        const bool is_before = may_be_before && (!may_be_after || from_now(before) < from_now(after));
        return is_before ? before : may_be_after ? after : std::clamp(after, std::min(last_live_, now()), now());
    }

    Duration from_now(Instant time) const { return time < now() ? now() - time : time - now(); }

    StepWatch watch_;
    Instant wall_;
    Instant earliest_;
    Duration ahead_;
    Duration ahead_before_;  ///< ahead_ before the last step
    Instant step_from_{};    ///< the last step was after this
    Instant step_until_{};   ///< and not after this
    Instant last_live_{};
};

}  // namespace weir::priority
