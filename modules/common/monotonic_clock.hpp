// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the modules' only access to the machine's monotonic clock, which the Flux API does not provide. This clock is
// never set.
#pragma once
#include <ctime>

namespace weir::flux {

/// Seconds since a fixed time in the past, the same for all processes of the machine.
inline double monotonic_seconds() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

}  // namespace weir::flux
