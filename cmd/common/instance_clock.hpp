// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the instance's time as seen from outside: its clock may be scaled (doc/adr/0008).
#pragma once
#include <optional>

#include "cmd/common/client.hpp"

namespace weir::cmd {

/// scaled(t) = origin + (real - origin) * scale.
struct InstanceClock {
    double scale = 1;
    double origin = 0;
    double scaled(double real) const { return origin + (real - origin) * scale; }
    double real(double scaled_time) const { return origin + (scaled_time - origin) / scale; }
};

/// From the attributes clock.scale and clock.origin; a stock Flux has none: real time.
InstanceClock instance_clock(Client& client);
/// Unix seconds of this machine.
double real_now();
/// Unix seconds as the instance counts them.
double instance_now(Client& client);

}  // namespace weir::cmd
