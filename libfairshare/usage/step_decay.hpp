// SPDX-License-Identifier: LGPL-3.0-only
// Owns: decay of a single number in steps, with a floor, as in OpenPBS, Grid Engine and HTCondor. Must not know: what
// the number means. Ledgers of whole trees use decay.hpp.
#pragma once
#include <algorithm>
#include <cmath>

#include "libfairshare/base/time.hpp"

namespace weir {

/// 2^-(elapsed / half_life), in (0, 1]; 1 where the half-life is 0: nothing decays. Grid Engine's halftime and
/// HTCondor's PRIORITY_HALFLIFE. Elapsed times below 0 count as 0.
inline double half_life_factor(Duration elapsed, Duration half_life) {
    if (half_life <= Duration{0} || elapsed <= Duration{0}) {
        return 1.0;
    }
    return std::exp2(-static_cast<double>(elapsed.count()) / static_cast<double>(half_life.count()));
}

/// `value` moved towards `goal` by that factor, never below `least`. Goal 0 is plain decay; with the cores in use as
/// goal it is HTCondor's real user priority. Two steps with factors a and b are one with a * b.
inline double stepped(double value, double factor, double goal, double least) {
    return std::max(goal + (value - goal) * factor, least);
}

/// OpenPBS: whole periods only. `last` advances by whole periods, so that it never drifts.
struct PeriodicDecay {
    Duration period = std::chrono::hours{24};  ///< fairshare_decay_time; 0: never
    double factor = 0.5;                       ///< fairshare_decay_factor, in (0, 1)
    double least = 1.0;

    /// Periods that ended in (last, now]; `last` is then the end of the latest of them. The first period must have
    /// passed by more than nothing, as OpenPBS asks. O(1).
    std::int64_t periods_passed(Instant& last, Instant now) const {
        if (period <= Duration{0} || now - last <= period) {
            return 0;
        }
        const std::int64_t passed = (now - last) / period;
        last += passed * period;
        return passed;
    }
    /// A number after so many periods. A number at the floor stays there, so one power is enough.
    double after(double value, std::int64_t periods) const {
        return stepped(value, std::pow(factor, static_cast<double>(periods)), 0.0, least);
    }
};

}  // namespace weir
