// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the one definition of time, in integer microseconds. `now` is always an argument and never read from a clock.
#pragma once
#include <chrono>
#include <cmath>
#include <cstdint>

namespace weir {

/// A tag only: it has no now(), so the libraries cannot read the time.
struct WallClock {
    using rep = std::int64_t;
    using period = std::micro;
    using duration = std::chrono::duration<rep, period>;
    using time_point = std::chrono::time_point<WallClock>;
    static constexpr bool is_steady = false;
};
using Duration = WallClock::duration;
/// Microseconds since the Unix epoch.
using Instant = WallClock::time_point;

/// From an RFC 18 timestamp (seconds since the epoch, double). Rounds to the nearest microsecond, exact before year
/// 2242.
inline Instant instant_from_seconds(double seconds) {
    return Instant{Duration{static_cast<std::int64_t>(std::llround(seconds * 1e6))}};
}
inline Duration duration_from_seconds(double seconds) {
    return Duration{static_cast<std::int64_t>(std::llround(seconds * 1e6))};
}
/// Since the Unix epoch.
inline std::int64_t micros(Instant t) {
    return t.time_since_epoch().count();
}
/// a / b, rounded down: which interval of length b holds the instant a. REQUIRES: b > 0.
constexpr std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
    return a / b - (a % b < 0 ? 1 : 0);
}
inline double to_seconds(Duration d) {
    return static_cast<double>(d.count()) / 1e6;
}
inline double to_seconds(Instant t) {
    return to_seconds(t.time_since_epoch());
}

}  // namespace weir
