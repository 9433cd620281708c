// SPDX-License-Identifier: LGPL-3.0-only
// Owns: how often an operation ran and how long it took, for metrics. Seconds of the reactor's clock.
#pragma once
#include <cstdint>

namespace weir::priority {

struct Timing {
    std::uint64_t count = 0;
    double total_s = 0;
    void add(double seconds) {
        count += 1;
        total_s += seconds;
    }
};

}  // namespace weir::priority
