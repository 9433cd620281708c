// SPDX-License-Identifier: LGPL-3.0-only
// Owns: common parts of the pictures of a comparison: their width, the names of the policies, the axis of time.
// Must not know any picture.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "cmd/report/svg.hpp"
#include "cmd/sim/comparison.hpp"

namespace weir::cmd {

inline constexpr double picture_width = 940;

inline std::vector<std::string> names_of(const Comparison& comparison) {
    std::vector<std::string> names;
    for (const Measured& policy : comparison.policies) {
        names.push_back(policy.name);
    }
    return names;
}

/// Since the first submission.
inline double days(const Comparison& comparison, Instant at) {
    return to_seconds(at - comparison.begin) / 86400;
}

/// Days, or hours below three days, from the first submission to the last end.
inline Axis time_axis(const Comparison& comparison, double from, double to, int ticks) {
    const double high = std::max(days(comparison, comparison.end), 1e-6);
    const double unit = high < 3 ? 24 : 1;
    Axis axis{0, high, from, to, 0, round_ticks(0, high * unit, ticks, unit > 1 ? " h" : " d")};
    for (Tick& tick : axis.ticks) {
        tick.at /= unit;
    }
    return axis;
}

}  // namespace weir::cmd
