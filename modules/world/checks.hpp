// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what must hold in a world. What can be said at each step is checked where it happens (Machine, Executor,
// SchedPart); here is what holds at rest. A new checker is a function in the table of checks.cpp.
#pragma once
#include <string>
#include <vector>

#include "modules/world/world.hpp"

namespace weir::world {

/// What still goes on: sentences; empty at rest. What is said of a world that should be at rest is a violation.
std::vector<std::string> why_no_rest(World& world);
/// It is too late for what why_no_rest() says.
void report_unrest(World& world);
/// All promises. REQUIRES: why_no_rest() is empty.
void check_at_rest(World& world);

}  // namespace weir::world
