// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the arguments of a scheduler module. No flux_t, so that unit tests link it alone.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "libfairshare/base/result.hpp"
#include "libsched/policy/policy.hpp"
#include "libsched/resource/placement.hpp"

namespace weir::sched {

/// The module's settings.
struct Settings {
    Policy policy;
    NodeChoice node_choice = NodeChoice::first;
    /// Alloc requests that the job-manager may send ahead, >= 1; none: all of them (RFC 27, mode "unlimited").
    std::optional<std::uint32_t> queue_depth;
    int log_level = 7;            ///< syslog severity 0 to 7; the module logs nothing that is less severe
    bool has_pool_class = false;  ///< `pool-class=` was given, which has no effect here
};

/// Reads the module's arguments: `policy=`, `node-choice=`, and those of Flux's own schedulers,
/// `queue-depth=N|unlimited`, `mode=unlimited|limited=N`, `log-level=NAME` and `pool-class=URI`. An error names the
/// argument and what would be right. O(arguments).
Result<Settings> settings_of(Policy policy, std::span<const std::string_view> arguments);

}  // namespace weir::sched
