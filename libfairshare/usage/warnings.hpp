// SPDX-License-Identifier: LGPL-3.0-only
// Owns: settings that are allowed but do not do what people expect of them, in words.
// Must not know: configuration keys, files.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "libfairshare/base/time.hpp"
#include "libfairshare/usage/window.hpp"

namespace weir {

struct UsageSettings {
    Duration half_life{};                ///< 0: none
    std::optional<WindowPolicy> window;  ///< where usage is counted in windows
    Duration wall_limit_max{};           ///< of the site's longest jobs; 0: no limit
    double fairshare_weight = 1;         ///< in the priority
};

/// One sentence a finding, each with what to change; empty where there is none. A job that outlives the half-life (or
/// the windows) is half (or wholly) forgotten before it ends: who fills the machine with such jobs recovers faster
/// than those wait. A weight of 0 makes all of this idle.
std::vector<std::string> usage_warnings(const UsageSettings& settings);

}  // namespace weir
