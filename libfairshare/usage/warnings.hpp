// SPDX-License-Identifier: LGPL-3.0-only
// Owns: warnings of settings that are valid but do not do what people expect.
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

/// One sentence for each finding, with what to change; empty if there is none. A job that runs longer than the
/// half-life (or the windows) is half (or completely) forgotten before it ends, so a user who fills the machine with
/// such jobs recovers faster than the others wait. With a weight of 0 nothing of this matters.
std::vector<std::string> usage_warnings(const UsageSettings& settings);

}  // namespace weir
