// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the instance's time as seen from outside: its clock may be scaled and does not step.
#pragma once
#include <optional>

#include "cmd/common/client.hpp"

namespace weir::cmd {

/// scaled(t) = origin + (real - origin) * scale.
struct InstanceClock {
    double scale = 1;
    double origin = 0;
    double scaled(double real) const { return origin + (real - origin) * scale; }
};

/// Unix seconds of this machine.
double real_now();
/// Unix seconds as the instance counts them: its attributes clock.zero and clock.scale on this machine's monotonic
/// clock. A stock Flux has none: real time.
double instance_now(Client& client);

}  // namespace weir::cmd
