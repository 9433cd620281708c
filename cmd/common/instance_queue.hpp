// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the name of the queue of the child instances' own jobs.
#pragma once

namespace weir::cmd {

/// No other job uses it. A stock Flux may have no such queue.
inline constexpr const char* instance_queue = "instances";

}  // namespace weir::cmd
