// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the keys of a configuration that this broker or its modules read, and those that are read only at the start.
// Must not know their values. Source: doc/configuration.md.
#pragma once
#include <string>
#include <vector>

#include "broker/core/config.hpp"

namespace weir::broker {

/// One sentence for each table or key that nothing reads, with its position and the nearest known name.
std::vector<std::string> unknown_keys(const LoadedConfig& config);
/// One sentence for each key that is read only at the start and differs from what it was then.
std::vector<std::string> kept_until_restart(const Json& at_start, const LoadedConfig& now);

}  // namespace weir::broker
