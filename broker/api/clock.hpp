// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the process's scaled clock (doc/adr/0008): scaled(t) = origin + (real(t) - origin) * scale. Every reactor's
// now, time and timers use it. The only place of the API that reads a clock. Must not know reactors.
#pragma once
#include <cstdint>

namespace weir::broker {

/// Sets the process-wide clock; once, before threads and handles exist. scale > 0 (1 = real time);
/// origin: Unix seconds at which scaled and real time agree.
void set_clock(double scale, double origin);
/// Scaled Unix seconds. With scale 1 this is the wall clock; otherwise it follows the monotonic clock and never steps.
double clock_now();
double clock_scale();
double clock_origin();
/// Real seconds that pass while `scaled_seconds` of scaled time do.
double real_delay(double scaled_seconds);
/// The monotonic clock in nanoseconds; the unit of timers.
uint64_t monotonic_ns();

}  // namespace weir::broker
