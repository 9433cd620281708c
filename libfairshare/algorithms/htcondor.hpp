// SPDX-License-Identifier: LGPL-3.0-only
// Owns: HTCondor's effective user priority, and the slices of the pie that follow from it.
// Must not know: machines, jobs, matchmaking. Source: HTCondor manual, user priorities and negotiation; accountant.cpp.
#pragma once
#include <limits>
#include <span>
#include <vector>

#include "libfairshare/base/time.hpp"

namespace weir {

struct Htcondor {
    Duration half_life = std::chrono::hours{24};  ///< PRIORITY_HALFLIFE
    double least = 0.5;                           ///< no real user priority is below

    /// Real user priority after `elapsed` with so many cores in use: b * rup + (1 - b) * cores with
    /// b = 2^-(elapsed / half_life). Any way to cut a time into steps gives the same.
    double real_priority(double rup, double cores, Duration elapsed) const;
};

/// rup * factor (DEFAULT_PRIO_FACTOR 1000). The lower the better.
inline double effective_priority(double rup, double factor) {
    return rup * factor;
}

struct PieSubmitter {
    double effective_priority = 1;                             ///< above 0
    double wanted = std::numeric_limits<double>::infinity();   ///< cores it can use now, ceiling aside
    double floor = 0;                                          ///< cores it gets first, up to its demand
    double ceiling = std::numeric_limits<double>::infinity();  ///< cores it never passes
};
/// Cores each gets of `cores`: floors first (scaled down where they exceed the pie), the rest in proportion to 1 /
/// effective priority; cores beyond one's demand are divided again among the others, until no cores or no demand is
/// left ("pie spins"). O(n^2) at worst.
std::vector<double> pie_slices(std::span<const PieSubmitter> submitters, double cores);

}  // namespace weir
