// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the bounded slowdown of a job. Must not know what it is computed for.
#pragma once
#include <algorithm>

#include "libfairshare/base/time.hpp"

namespace weir {

/// The bound of the slowdown: a run that is shorter counts as one of this length.
inline constexpr double slowdown_bound_s = 10;

/// max(1, (wait + run) / max(run, 10 s)). Source: Feitelson, Rudolph, Schwiegelshohn, Sevcik, Wong 1997, tau = 10 s.
inline double bounded_slowdown(Duration wait, Duration run) {
    const double run_s = to_seconds(run);
    return std::max(1.0, (to_seconds(wait) + run_s) / std::max(run_s, slowdown_bound_s));
}

}  // namespace weir
