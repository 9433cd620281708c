// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see instance_clock.hpp.
#include "broker/core/instance_clock.hpp"

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <utility>

namespace weir::broker {
namespace {

constexpr std::size_t line_size = 128;

}  // namespace

ClockStart begin_clock(const ClockWish& wish, const std::optional<ClockPast>& past, double wall, double monotonic) {
    ClockStart start;
    start.scale = wish.scale.value_or(wish.parent ? wish.parent->scale : 1.);
    const bool is_parents = wish.parent && !wish.origin && wish.parent->scale == start.scale;
    const bool is_kept = past && past->scale == start.scale && start.scale != 1;
    start.origin = wish.origin.value_or(is_kept ? past->origin : wall);
    const double now =
        is_parents ? wish.parent->zero + start.scale * monotonic : start.origin + (wall - start.origin) * start.scale;
    start.raised = past && past->seen > now ? past->seen - now : 0.;
    if (is_parents && start.raised <= clock_wait_max_s * start.scale) {
        start.wait = std::exchange(start.raised, 0.) / start.scale;
    }
    start.zero = now + start.raised - start.scale * monotonic;
    return start;
}

std::string encode(const ClockPast& past) {
    char text[line_size + 1];
    const int size =
        std::snprintf(text, sizeof text, "weir-clock 1 %.17g %.17g %.17g", past.scale, past.origin, past.seen);
    std::string line(text, static_cast<std::size_t>(size));
    line.resize(line_size - 1, ' ');
    return line + "\n";
}

std::optional<ClockPast> decode_clock(std::string_view line) {
    ClockPast past;
    char end = 0;
    const std::string text(line);
    if (line.size() != line_size ||
        std::sscanf(text.c_str(), "weir-clock 1 %lf %lf %lf%c", &past.scale, &past.origin, &past.seen, &end) != 4) {
        return std::nullopt;
    }
    const bool is_sound = std::isfinite(past.scale) && std::isfinite(past.origin) && std::isfinite(past.seen);
    return is_sound && past.scale > 0 && past.seen > 0 ? std::optional(past) : std::nullopt;
}

}  // namespace weir::broker
