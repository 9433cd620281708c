// SPDX-License-Identifier: LGPL-3.0-only
// Owns: how many of the values that go down to children are sent in one request, and when. The job-manager serves no
// other request meanwhile, and a value costs a stock one a hundred times as much as an embedded one. Must not know a
// clock.
#pragma once
#include <algorithm>
#include <cstddef>

namespace weir::priority {

class ValuePace {
  public:
    /// Of a request, and of the job-manager's time that all of them may take.
    static constexpr double request_s = 0.5, part = 0.25;
    static constexpr double pause_most_s = 30;  ///< after an answer
    static constexpr std::size_t portion_first = 1000, portion_least = 100, portion_most = 100000;

    /// Seconds until the next request may be sent; 0: now. `now`: seconds of a steady clock.
    double wait(double now) const { return std::max(0., next_ - now); }
    std::size_t portion() const { return portion_; }
    /// A request with `count` values took from `begin` to `end`.
    void answered(std::size_t count, double begin, double end) {
        const double took = std::max(0., end - begin);
        next_ = std::min(begin + took / part, end + pause_most_s);
        const double fitting = took > 0 ? static_cast<double>(count) * (request_s / took) : portion_most;
        // A small request tells little of a large one: it may make the next one larger by four times at most.
        const double most = static_cast<double>(std::max(portion_, count)) * 4;
        portion_ =
            static_cast<std::size_t>(std::clamp(fitting, double{portion_least}, std::min(most, double{portion_most})));
    }

  private:
    double next_ = 0;
    std::size_t portion_ = portion_first;
};

}  // namespace weir::priority
