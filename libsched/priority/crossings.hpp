// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the instants at which one of two jobs passes the other as time goes on. Must not know how priorities are
// computed: it evaluates the engine, whose numbers only rise, in steps. A formula would ignore rounding, clamps and
// ties.
#pragma once
#include <span>
#include <vector>

#include "libsched/priority/engine.hpp"

namespace weir {

struct Crossing {
    Instant at;                  ///< the first microsecond at which it holds
    PriorityEngine::Slot ahead;  ///< the job that is ahead from then on
};

/// The next changes of the order of two jobs after `now`, in order of time, at most `limit`. The order is that of the
/// queue: priority, then submission, then id. Fair-share factors and the jobs' inputs stay as at `now`. Exact to the
/// microsecond, except for two ageing jobs whose sums differ by less than a few microseconds' ageing: they count as
/// tied. Two jobs less than 1 apart may pass each other repeatedly, because their numbers are rounded. O((limit + 9) x
/// log(wait_max in microseconds)) evaluations of a priority.
std::vector<Crossing> crossings(const EngineAt& at, PriorityEngine::Slot a, PriorityEngine::Slot b, std::size_t limit);

}  // namespace weir
