// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the pauses between attempts of the same thing. Must not know a timer.
#pragma once
#include <algorithm>

namespace weir::flux {

/// Doubles from the first to the last pause; in seconds of the reactor's clock.
class Backoff {
  public:
    Backoff(double first, double last) : first_(first), last_(last), next_(first) {}
    /// \return the pause before the next attempt.
    double next() {
        has_failed_ = true;
        const double pause = next_;
        next_ = std::min(last_, next_ * 2);
        return pause;
    }
    /// An attempt succeeded.
    void reset() {
        has_failed_ = false;
        next_ = first_;
    }
    /// Whether nothing has succeeded since the last next(): then people were told.
    bool has_failed() const { return has_failed_; }

  private:
    double first_;
    double last_;
    double next_;
    bool has_failed_ = false;
};

}  // namespace weir::flux
