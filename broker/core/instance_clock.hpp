// SPDX-License-Identifier: LGPL-3.0-only
// Owns: where an instance's clock begins, and what is kept of it. Must not read a clock: times come in as arguments, in
// seconds.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace weir::broker {

/// What configuration, attributes and the parent instance ask for.
struct ClockWish {
    std::optional<double> scale;
    std::optional<double> origin;  ///< Unix seconds at which scaled and real time agree
    struct Mapping {
        double scale = 1;
        double zero = 0;
    };
    std::optional<Mapping> parent;  ///< the parent's clock, on this machine
};

/// What an earlier broker on the same statedir left.
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
};

/// A clock that agrees with the parent's if the scales are the same; else one through the origin that is asked for, or
/// that the statedir had at the same scale, or now; in no case one that goes back behind what was seen.
ClockStart begin_clock(const ClockWish& wish, const std::optional<ClockPast>& past, double wall, double monotonic);

/// One line of fixed length.
std::string encode(const ClockPast& past);
/// Nothing when it is no such line.
std::optional<ClockPast> decode_clock(std::string_view line);

}  // namespace weir::broker
