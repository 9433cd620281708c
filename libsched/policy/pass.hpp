// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the input and the output of a scheduling pass. Must not know any policy.
//
// pass(queue, space, news, now, sink) decides what starts. It changes nothing but the space it is given and is a
// function of queue, space and instant: news only save work, by what cannot have changed since the last pass.
//
// Queue: a JobQueue. Both spaces, CountSpace (cores are a number) and ResourceSpace (cores of nodes), have
//   Taken                                                 what a start takes
//   Opening opening(Instant now) const                          necessary for start()
//   std::vector<Bound> bounds() const                           necessary for jobs that start together
//   bool may_start(const Job&)                            necessary for start(), where there is an opening
//   bool may_ever_start(const Job&)                       whether the nodes that are up could run it if nothing ran
//   std::optional<Taken> start(const Job&, Instant now)   takes it now, unless that is not free or would delay a
//                                                         reservation
//   std::optional<Instant> reserve(const Job&, Instant)   keeps the earliest place for a job that start() refused
//   void clear_reservations()
//   Reservations<Place>& reservations()
// and, for places that a policy keeps itself, Place earliest(const Job&, now), hold(Place, now), drop(Place, now) and
//   std::optional<Taken> start_at(const Job&, Place, now).
// A Sink has
//   void started(const Job&, Taken)
//   void blocked(const Job&, Blocked)      a pending job, in order; later ones may be left out
//   std::uint32_t blocked_min() const      the least number of pending jobs to pass to blocked()
#pragma once
#include <optional>

#include "libsched/job_queue.hpp"
#include "libsched/resource/reservations.hpp"

namespace weir {

/// Why a job does not start, and when it is expected to.
struct Blocked {
    /// The begin of its reservation; none: it has none, or no running job is expected to end.
    std::optional<Instant> estimate;
};

}  // namespace weir
