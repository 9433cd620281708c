// SPDX-License-Identifier: LGPL-3.0-only
// Owns: picture 6: what policies do on one log: distance from entitlement over time, and how long jobs waited. Pure.
// Must not know how the lines were computed.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cmd/report/svg.hpp"

namespace weir::cmd {

inline constexpr double picture_width = 940;

/// A value that is not always there, by seconds from the beginning.
using Series = std::vector<std::pair<double, std::optional<double>>>;

struct PolicyLines {
    std::string name;
    Series distance;  ///< part of the usage that is with another account than the shares say
    Points waits;     ///< seconds, and the part of the jobs that waited at most so long; by seconds
    double wait_median_s = 0, wait_p95_s = 0, wait_max_s = 0;
};

/// The stretches in which there is a value, as lines.
std::vector<Points> stretches(const Series& values);
/// "0.52 times", or that there is no value.
std::string mean_text(const Series& values, const std::string& unit);
/// Seconds up to `high_s`, with ticks of days, or of hours below three days.
Axis time_axis(double high_s, double from, double to, int ticks);

/// `span_s`: from the first submission to the last end under any policy.
std::string distance_picture(const std::vector<PolicyLines>& policies, double span_s);
/// What it shows, for below its heading.
std::string distance_caption(double half_life_s);
std::string waits_picture(const std::vector<PolicyLines>& policies);
inline constexpr const char* distance_heading = "Distance from entitlement over time";
inline constexpr const char* waits_heading = "How long jobs waited";
inline constexpr const char* waits_caption =
    "Part of the jobs that waited at most so long (logarithmic). Higher is better.";

}  // namespace weir::cmd
