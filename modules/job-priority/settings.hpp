// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which of the [weir] table's settings job-priority cannot follow, and says so. Must not know the keys: they are
// shared with the simulator (libsched/config).
#pragma once
#include <string>
#include <vector>

#include "libsched/config/settings.hpp"

namespace weir::priority {

using Settings = config::Settings;

/// config::read_settings(); what is right but not for this module is an error, too: it is never ignored.
Result<Settings> read_settings(const json_t* table, const std::vector<std::string>& arguments);

/// Of the usage that is kept; 0: it does not decay.
inline Duration kept_half_life(const Settings& settings) {
    return settings.decay == DecayKind::none ? Duration{} : settings.half_life;
}

}  // namespace weir::priority
