// SPDX-License-Identifier: LGPL-3.0-only
// Owns: when the next usage report leaves. A child with few jobs reports at once; one with many short jobs sends the
// records of a second together, so that its parent reads one message a second and child. Must not know a clock.
#pragma once
#include <algorithm>
#include <cstddef>
#include <optional>

#include "libfairshare/base/time.hpp"
#include "modules/job-priority/sends/uplink_queue.hpp"

namespace weir::priority {

/// Between two reports that are not full.
inline constexpr double report_pause_real_s = 1.0;

class ReportPace {
  public:
    explicit ReportPace(Duration pause) : pause_(pause) {}
    /// How long the next report waits; 0: it goes now. A full one always does. A clock that was set back holds nothing
    /// up.
    /// \param records  that wait
    Duration wait(Instant now, std::size_t records) const {
        if (!last_ || now < *last_ || records >= UplinkQueue::batch_max) {
            return Duration{};
        }
        return std::max(Duration{}, *last_ + pause_ - now);
    }
    void sent(Instant now) { last_ = now; }
    /// Another link: what waits goes at once.
    void restart() { last_.reset(); }

  private:
    Duration pause_;
    std::optional<Instant> last_;
};

}  // namespace weir::priority
