// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which keys of a configuration somebody in this broker reads, and which of them at the start alone. Must not
// know their values. Source: doc/configuration.md.
#pragma once
#include <string>
#include <vector>

#include "broker/core/config.hpp"

namespace weir::broker {

/// One sentence for each table or key that nothing here reads, with its place and the nearest name that is read.
std::vector<std::string> unknown_keys(const LoadedConfig& config);
/// One sentence for each key that differs but is read at the start alone.
std::vector<std::string> kept_until_restart(const Json& before, const LoadedConfig& after);

}  // namespace weir::broker
