// SPDX-License-Identifier: LGPL-3.0-only
// Owns: how long jobs waited from submission to allocation, as counts between fixed bounds. Must not know jobs.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "libfairshare/base/time.hpp"

namespace weir::priority {

struct WaitHistogram {
    /// Upper bounds in seconds, included; waits above the last one are counted behind it.
    static constexpr std::array<double, 10> bounds_s{1, 10, 60, 600, 3600, 21600, 86400, 259200, 604800, 2592000};

    std::array<std::uint64_t, bounds_s.size() + 1> counts{};
    double sum_s = 0;

    /// A negative wait (a clock that stepped) counts as none.
    void add(Duration wait) {
        const double seconds = std::max(0., to_seconds(wait));
        const auto bound = std::lower_bound(bounds_s.begin(), bounds_s.end(), seconds);
        counts[static_cast<std::size_t>(bound - bounds_s.begin())] += 1;
        sum_s += seconds;
    }
};

}  // namespace weir::priority
