// SPDX-License-Identifier: LGPL-3.0-only
// Owns: how much more or less there is of one node from which instant on, as running sums. Must not know what there is
// to begin with, nor why it changes.
#pragma once
#include <algorithm>
#include <vector>

#include "libsched/resource/amounts.hpp"

namespace weir {

/// A sum of amounts, some of them subtracted: a kind may be negative.
struct AmountSum {
    std::int64_t cores = 0;
    std::int64_t gpus = 0;
    std::int64_t memory_mib = 0;

    void add(const Amounts& amounts, int sign) {
        cores += sign * std::int64_t{amounts.cores};
        gpus += sign * std::int64_t{amounts.gpus};
        memory_mib += sign * std::int64_t{amounts.memory_mib};
    }
    friend AmountSum operator+(const AmountSum& a, const AmountSum& b) {
        return {a.cores + b.cores, a.gpus + b.gpus, a.memory_mib + b.memory_mib};
    }
    friend AmountSum least(const AmountSum& a, const AmountSum& b) {
        return {std::min(a.cores, b.cores), std::min(a.gpus, b.gpus), std::min(a.memory_mib, b.memory_mib)};
    }
    /// Zero instead of a negative amount.
    Amounts amounts() const {
        const auto amount = [](std::int64_t n) { return static_cast<std::uint32_t>(std::max<std::int64_t>(n, 0)); };
        return {amount(cores), amount(gpus), amount(memory_mib)};
    }
    friend bool operator==(const AmountSum&, const AmountSum&) = default;
};

class AmountSteps {
  public:
    struct Step {
        Instant at;
        AmountSum sum;  ///< of all changes until then
    };

    /// From `at` on so much more, or less when `sign` is -1. What adds up to nothing leaves no step. O(steps from
    /// then on).
    void change(Instant at, const Amounts& amounts, int sign) {
        auto place = std::lower_bound(steps_.begin(), steps_.end(), at,
                                      [](const Step& step, Instant when) { return step.at < when; });
        if (place == steps_.end() || place->at != at) {
            const AmountSum before = place == steps_.begin() ? AmountSum{} : std::prev(place)->sum;
            place = steps_.insert(place, {at, before});
        }
        for (auto step = place; step != steps_.end(); ++step) {
            step->sum.add(amounts, sign);
        }
        if (place->sum == (place == steps_.begin() ? AmountSum{} : std::prev(place)->sum)) {
            steps_.erase(place);
        }
    }
    /// The sum of the changes at or before `at`. O(log steps); counts the steps that it looks at.
    AmountSum until(Instant at, std::uint64_t& looked_at) const {
        const auto place = after(at, looked_at);
        return place == steps_.begin() ? AmountSum{} : std::prev(place)->sum;
    }
    /// Calls visit(step) for those after `from` and before `end`.
    template <typename Visit>
    void each_between(Instant from, Instant end, std::uint64_t& looked_at, Visit&& visit) const {
        for (auto step = after(from, looked_at); step != steps_.end() && step->at < end; ++step) {
            looked_at++;
            visit(*step);
        }
    }

  private:
    std::vector<Step>::const_iterator after(Instant at, std::uint64_t& looked_at) const {
        return std::upper_bound(steps_.begin(), steps_.end(), at, [&](Instant when, const Step& step) {
            looked_at++;
            return when < step.at;
        });
    }

    std::vector<Step> steps_;
};

}  // namespace weir
