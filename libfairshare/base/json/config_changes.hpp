// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what differs between two configurations, in words. Must not know what a key means.
#pragma once
#include <string>
#include <vector>

#include "libfairshare/base/json/json.hpp"

namespace weir {

/// "weir.half-life" -> "[weir] half-life"; "weir" -> "[weir]".
std::string key_text(const std::string& path);

/// The differences, one sentence for each key, in the order of their text: "[weir] half-life: \"16d\" -> \"1d\"". A key
/// that is not there is "(default)". A table without keys is told as {}, since it may define a queue.
std::vector<std::string> config_changes(const Json& before, const Json& after);

}  // namespace weir
