// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the process's clock, which may be scaled and never steps. The time and the timers of every reactor use it. The
// only place of the broker that reads a clock. Must not know reactors.
#pragma once
#include <cstdint>
#include <functional>

#include "libfairshare/base/result.hpp"

namespace weir::broker {

/// Sets the process-wide clock; once, before threads and handles exist: from then on it is zero + scale * the machine's
/// monotonic clock in seconds. scale > 0 (1 = real time).
void set_clock(double scale, double zero);
/// Instance time in Unix seconds. In a process that set no clock, a client for example, the wall clock.
double clock_now();
double clock_scale();
/// Sets the function that stores the clock over restarts (the broker's core has it): `keep` gets an instance time
/// before which the next life of this instance must not begin. Empty: none. Calls of `keep` exclude one another and
/// this function.
void keep_clock(std::function<Status(double until)> keep);
/// To be called before anything dated `until` (instance time, Unix seconds) is written. Any thread; at most one short
/// write. Error: of that write; the dated data may be written all the same.
Status mark_clock(double until);
/// Unix seconds by the wall clock, which may be set at any time.
double wall_now();
/// Real seconds that pass while `scaled_seconds` of scaled time do.
double real_delay(double scaled_seconds);
/// The monotonic clock in nanoseconds; the unit of timers.
uint64_t monotonic_ns();

}  // namespace weir::broker
