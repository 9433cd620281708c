// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the settings that are in force under a policy, as JSON that read_settings() takes: what was written, and the
// defaults of what was not. Must not know files.
#pragma once
#include "libfairshare/base/json/json.hpp"
#include "libsched/config/settings.hpp"

namespace weir::cmd {

/// [weir] of a policy: the keys that `kind` heeds with their defaults, then all of `written`. Of the tables lsf, moab
/// and load-threshold, and of those that are empty by default, what was written alone.
Json settings_in_force(PolicyKind kind, const json_t* written);

}  // namespace weir::cmd
