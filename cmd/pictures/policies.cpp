// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the layout of picture 6.
#include "cmd/pictures/policies.hpp"

#include <algorithm>

#include "cmd/common/text.hpp"
#include "cmd/common/time_text.hpp"

namespace weir::cmd {
namespace {

constexpr double left_margin = 64, right_margin = 20;

std::string span_of(double seconds) {
    return duration_text(duration_from_seconds(seconds));
}

std::vector<std::string> names_of_policies(const std::vector<PolicyLines>& policies) {
    std::vector<std::string> names;
    for (const PolicyLines& policy : policies) {
        names.push_back(policy.name);
    }
    return names;
}

}  // namespace

std::vector<Points> stretches(const Series& values) {
    std::vector<Points> lines;
    bool is_open = false;
    for (const auto& [at, value] : values) {
        if (value) {
            if (!is_open) {
                lines.emplace_back();
            }
            lines.back().emplace_back(at, *value);
        }
        is_open = value.has_value();
    }
    return lines;
}

std::string mean_text(const Series& values, const std::string& unit) {
    double sum = 0;
    std::size_t count = 0;
    for (const auto& [at, value] : values) {
        sum += value.value_or(0);
        count += value ? 1 : 0;
    }
    return count == 0 ? "never asks with another" : fixed(sum / static_cast<double>(count), 2) + unit;
}

Axis time_axis(double high_s, double from, double to, int ticks) {
    const double high = std::max(high_s, 0.1);
    const bool is_short = high < 3 * 86400;
    const double unit = is_short ? 3600 : 86400;
    Axis axis{0, high, from, to, 0, round_ticks(0, high / unit, ticks, is_short ? " h" : " d")};
    for (Tick& tick : axis.ticks) {
        tick.at *= unit;
    }
    return axis;
}

std::string distance_picture(const std::vector<PolicyLines>& policies, double span_s) {
    std::string words;
    std::vector<Series> lines;
    double high = 1;
    for (const PolicyLines& policy : policies) {
        Series& values = lines.emplace_back(policy.distance);
        for (auto& [at, value] : values) {
            value = value ? std::optional(100 * *value) : std::nullopt;
            high = std::max(high, value.value_or(0));
        }
        words += (words.empty() ? "" : "; ") + policy.name + ": " + mean_text(values, " % in the mean");
    }
    Svg svg("distance", picture_width, 300, distance_heading, words + ".");
    const double top = 8 + svg.legend(left_margin, 12, picture_width - left_margin, names_of_policies(policies));
    const Axis x = time_axis(span_s, left_margin, picture_width - right_margin, 10);
    const Axis y{0, high, 272, top, 0, round_ticks(0, high, 4, " %")};
    svg.axes(x, y);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        for (const Points& stretch : stretches(lines[i])) {
            svg.curve(x, y, stretch, i);
        }
    }
    return svg.str();
}

std::string distance_caption(double half_life_s) {
    return "Of the usage (half-life " + span_of(half_life_s) +
           ") of the accounts that have a job queued or running, the part that is with another of them than their "
           "shares say. Lower is better; a gap is a time at which fewer than two have one.";
}

std::string waits_picture(const std::vector<PolicyLines>& policies) {
    double high = 60;
    std::string words;
    for (const PolicyLines& policy : policies) {
        high = std::max(high, policy.wait_max_s);
        words += (words.empty() ? "" : "; ") + policy.name + ": half of the jobs waited at most " +
                 span_of(policy.wait_median_s) + ", 95 of 100 at most " + span_of(policy.wait_p95_s) +
                 ", the longest " + span_of(policy.wait_max_s);
    }
    Svg svg("waits", picture_width, 360, waits_heading, words + ".");
    const double top = 8 + svg.legend(left_margin, 12, picture_width - left_margin, names_of_policies(policies));
    const Axis x{0, high, left_margin, picture_width - right_margin, 10, duration_ticks(high)};
    const Axis y{0, 100, 330, top, 0, round_ticks(0, 100, 5, " %")};
    svg.axes(x, y);
    for (std::size_t i = 0; i < policies.size(); ++i) {
        Points points;
        for (const auto& [wait, part] : policies[i].waits) {
            points.emplace_back(wait, 100 * part);
        }
        svg.curve(x, y, points, i);
    }
    return svg.str();
}

}  // namespace weir::cmd
