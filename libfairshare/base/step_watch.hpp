// SPDX-License-Identifier: LGPL-3.0-only
// Owns: finding out that the wall clock was set: it then runs away from the monotonic clock. Must not read either: both
// come in as arguments. Source: doc/adr/0192.
#pragma once
#include "libfairshare/base/time.hpp"

namespace weir {

class StepWatch {
  public:
    /// \param step_min  less is no step: the two clocks are read one after the other
    StepWatch(Instant wall, Duration monotonic, Duration step_min = std::chrono::seconds(1))
        : offset_(wall - monotonic), first_(offset_), step_min_(step_min) {}

    /// What the wall clock jumped since the last call, forward or (negative) back; 0: it did not. What is no step is
    /// not forgotten: slewing adds up and shows when it has become one. O(1).
    Duration step(Instant wall, Duration monotonic) {
        const Duration step = wall - monotonic - offset_;
        if (std::chrono::abs(step) < step_min_) {
            return Duration{};
        }
        offset_ += step;
        return step;
    }
    /// All steps so far.
    Duration sum() const { return offset_ - first_; }
    Duration step_min() const { return step_min_; }

  private:
    Instant offset_;  ///< what the wall clock said when the monotonic clock was 0, as of the last step
    Instant first_;
    Duration step_min_;
};

}  // namespace weir
