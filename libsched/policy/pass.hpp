// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what a scheduling pass is given and what it tells. Must not know any policy.
//
// pass(queue, space, news, now, sink) decides what starts. It changes nothing but the space it is given and is a
// function of queue, space and instant: news only spare it from asking again what cannot have changed.
//
// Queue: a JobQueue. Both spaces, CountSpace (cores are a number) and ResourceSpace (cores of nodes), have
//   Taken                                                 what a start takes
//   Opening opening(Instant now) const                          necessary for start()
//   bool may_start(const Job&)                            necessary for start(), where there is an opening
//   std::optional<Taken> start(const Job&, Instant now)   takes it now, unless that is not free or would delay a
//                                                         reservation
//   std::optional<Instant> reserve(const Job&, Instant)   keeps the earliest place for a job that start() refused
//   void clear_reservations()
//   Reservations<Place>& reservations()
// and, for places that a policy keeps itself, Place earliest(const Job&, now), hold(Place, now), drop(Place, now) and
//   std::optional<Taken> start_at(const Job&, Place, now).
// A Sink has
//   void started(const Job&, Taken)
//   void blocked(const Job&, Blocked)      one that waits, in order; those behind them may not be told
//   std::uint32_t told() const             how many that wait it must be told of at least
#pragma once
#include <optional>

#include "libsched/job_queue.hpp"
#include "libsched/resource/reservations.hpp"

namespace weir {

/// Why a job does not start, and when it is believed to.
struct Blocked {
    /// Where its reservation begins; none: it has none, or nothing that runs is believed to end.
    std::optional<Instant> estimate;
};

}  // namespace weir
