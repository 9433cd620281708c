// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what must hold in a world. What can be said at each step is checked where it happens (Machine, Executor,
// SchedPart); here is what holds at rest. A new checker is a function in the table of checks.cpp.
#pragma once
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "modules/world/world.hpp"

namespace weir::world {

/// What still goes on: sentences; empty at rest. What is said of a world that should be at rest is a violation.
std::vector<std::string> why_no_rest(World& world);
/// It is too late for what why_no_rest() says.
void report_unrest(World& world);
/// All promises. REQUIRES: why_no_rest() is empty.
void check_at_rest(World& world);

/// Whether the rules of this partition take the instance's job, and its limits have a place for it now.
bool does_take(Instance& instance, std::uint64_t id, const std::string& partition);

/// Instance, child and job: since when the child is idle while the job waits.
using IdleSince = std::map<std::tuple<std::size_t, std::size_t, std::uint64_t>, Instant>;
/// No job waits for long that a partition of its queue could run at once. REQUIRES: no fault has a hand in it.
void check_idle(World& world, IdleSince& since);

}  // namespace weir::world
