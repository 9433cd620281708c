// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the detection of steps of the wall clock, by comparison with the monotonic clock. Must not read a clock: both
// times are arguments.
#pragma once
#include "libfairshare/base/time.hpp"

namespace weir {

class StepWatch {
  public:
    /// \param step_min a smaller difference is no step, because the two clocks are read one after the other
    StepWatch(Instant wall, Duration monotonic, Duration step_min = std::chrono::seconds(1))
        : offset_(wall - monotonic), first_(offset_), step_min_(step_min) {}

    /// The step of the wall clock since the last call: positive forward, negative back, 0 for none. Smaller differences
    /// are kept, so slewing adds up until it is a step. O(1).
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
    Instant offset_;  ///< the wall clock's time when the monotonic clock was 0, as of the last step
    Instant first_;
    Duration step_min_;
};

}  // namespace weir
