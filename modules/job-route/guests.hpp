// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what job-route's requests of users other than the owner are subject to.
#pragma once
#include "modules/common/guest_turns.hpp"
#include "modules/common/private_mode.hpp"

namespace weir::route {

struct Guests {
    flux::PrivateMode& privacy;  ///< of a private instance a guest is told of his own jobs alone
    flux::GuestTurns& turns;
};

}  // namespace weir::route
