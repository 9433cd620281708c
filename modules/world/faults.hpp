// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what goes wrong in a world, and when. A new kind of fault is a row in the table of faults.cpp. Must not know
// what is checked.
#pragma once
#include <set>
#include <string>

#include "modules/world/world.hpp"

namespace weir::world {

/// All kinds, as --faults names them.
std::set<std::string> fault_kinds();
/// The fault `liar`.
Duration tell_lies(World& world, Place& place);
/// The fault `guest`.
Duration attach_guest(World& world, Place& place);
/// Puts the faults that the options ask for on the agenda. \return when the last one is over.
Instant plan_faults(World& world);

}  // namespace weir::world
