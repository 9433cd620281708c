// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the settings in force under a policy, as JSON that read_settings() accepts: the written ones and the defaults
// of the others. Must not know files.
#pragma once
#include "libfairshare/base/json/json.hpp"
#include "libsched/config/settings.hpp"

namespace weir::cmd {

/// [weir] of a policy: the keys that `kind` uses with their defaults, then all of `written`. The tables lsf, moab and
/// load-threshold, and tables that are empty by default, have only what was written.
Json settings_in_force(PolicyKind kind, const json_t* written);

}  // namespace weir::cmd
