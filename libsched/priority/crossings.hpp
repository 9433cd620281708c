// SPDX-License-Identifier: LGPL-3.0-only
// Owns: when, as time alone goes on, one of two jobs passes the other. Must not know why: it asks the engine, whose
// numbers are steps that only rise. doc/adr/0097.
#pragma once
#include <span>
#include <vector>

#include "libsched/priority/engine.hpp"

namespace weir {

struct Crossing {
    Instant at;                  ///< the first microsecond at which it holds
    PriorityEngine::Slot ahead;  ///< who stands before the other from there on
};

/// The next changes of the order of two jobs after `now`, in order of time, at most `limit`: priority, then submission,
/// then id, as in the queue. Fair-share factors, and all that the jobs are, stay as at `now`.
/// Exact to the microsecond, but for two ageing jobs whose sums differ by less than a few microseconds' ageing: they
/// count as tied. Two jobs less than 1 apart may pass each other again and again, as their numbers are rounded.
/// O((limit + 9) x log(wait_max in microseconds)) evaluations of a priority.
std::vector<Crossing> crossings(const PriorityEngine& engine, PriorityEngine::Slot a, PriorityEngine::Slot b,
                                Instant now, std::span<const double> factors, std::size_t limit);

}  // namespace weir
