// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the beginning of an instance's clock, and its stored state. Must not read a clock: times are arguments, in
// seconds.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace weir::broker {

/// The requests of configuration, attributes and the parent instance.
struct ClockWish {
    std::optional<double> scale;
    std::optional<double> origin;  ///< Unix seconds at which scaled and real time agree
    struct Mapping {
        double scale = 1;
        double zero = 0;
    };
    std::optional<Mapping> parent;  ///< the parent's clock, on this machine
};

/// The state left by an earlier broker on the same statedir.
struct ClockPast {
    double scale = 1;
    double origin = 0;
    double seen = 0;  ///< instance time when it was last seen alive
};

/// instance time = zero + scale * monotonic time of the machine.
struct ClockStart {
    double scale = 1;
    double origin = 0;
    double zero = 0;
    double raised = 0;  ///< seconds by which the clock would have begun before `seen`; 0: it did not
    /// Real seconds until the parent's clock passes `seen`: the instance begins then, and the two clocks agree.
    double wait = 0;
};

/// The parent's clock can be behind what a child's statedir has seen by the interval of the marks, or by as long as the
/// parent was stopped before it was killed. A child waits so long, in real seconds; beyond it, its clock is raised.
inline constexpr double clock_wait_max_s = 60;

/// The parent's clock if the scales are equal; else a clock through the requested origin, or the statedir's origin at
/// the same scale, or now. It never begins before the last seen time.
ClockStart begin_clock(const ClockWish& wish, const std::optional<ClockPast>& past, double wall, double monotonic);

/// One line of fixed length.
std::string encode(const ClockPast& past);
/// Nothing when it is no such line.
std::optional<ClockPast> decode_clock(std::string_view line);

}  // namespace weir::broker
