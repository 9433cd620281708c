// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the instance's clock over its life: begun once, marked in the statedir every second and before the job journal
// is written, steps of the wall clock reported. Must not know how its begin is chosen (instance_clock.hpp).
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "broker/core/attributes.hpp"
#include "broker/core/clock_file.hpp"
#include "broker/core/instance.hpp"
#include "broker/core/loop.hpp"
#include "libfairshare/base/step_watch.hpp"

namespace weir::broker {

class ClockKeeper {
  public:
    using Log = std::function<void(int severity, const std::string& text)>;

    /// Sets the process's clock and its attributes. Before any other thread runs. Error: the statedir cannot be used,
    /// or another broker uses it.
    static Result<ClockKeeper> begin(Attributes& attributes, const Parent& parent);

    /// From here on the instance counts as alive: a mark now, then every second of real time, whenever mark_clock() is
    /// called, and at the end. REQUIRES: this object stays where it is until stop().
    void watch(Loop& loop, Log log);
    /// The last mark.
    void stop();

  private:
    ClockKeeper(std::optional<ClockFile> file, const ClockStart& start);
    void look();
    Status mark(double until);

    std::optional<ClockFile> file_;
    ClockStart start_;
    StepWatch steps_;
    Log log_;
    double marked_ = 0;  ///< under the lock of mark_clock()
    bool has_mark_failed_ = false;
    std::unique_ptr<Watch<uv_timer_t>> timer_;
};

}  // namespace weir::broker
