// SPDX-License-Identifier: LGPL-3.0-only
// Owns: when an ended partition is started again: after pauses that grow until it has run well, without a limit on
// restarts. Pure. Must not know jobs.
#pragma once
#include <algorithm>
#include <optional>

#include "libfairshare/base/time.hpp"

namespace weir::route {

/// Times are of one clock that does not step.
class Revival {
  public:
    static constexpr Duration first_pause = std::chrono::milliseconds(250);
    static constexpr Duration longest_pause = std::chrono::minutes(5);
    /// A partition that served its queue for so long has run well: its next death counts as the first.
    static constexpr Duration ran_well_after = std::chrono::minutes(10);

    /// The pause after the nth death in a row: none, 0.25 s, 0.5 s, 1 s, ..., 5 min.
    static Duration pause(int deaths) {
        Duration length = deaths <= 1 ? Duration{} : first_pause;
        for (int n = 2; n < deaths && length < longest_pause; ++n) {
            length *= 2;
        }
        return std::min(length, longest_pause);
    }

    /// It serves its queue, since now or an earlier call.
    void serves(Duration now) { since_ = since_.value_or(now); }
    void ended(Duration now) {
        const bool ran_well = since_ && now - *since_ >= ran_well_after;
        deaths_ = ran_well ? 1 : deaths_ + 1;
        since_.reset();
        next_ = now + pause(deaths_);
    }
    /// Deaths in a row.
    int deaths() const { return deaths_; }
    /// When it is to be started again; meaningful after ended().
    Duration next() const { return next_; }

  private:
    std::optional<Duration> since_;
    int deaths_ = 0;
    Duration next_{};
};

}  // namespace weir::route
