// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the nearest known name to a mistyped one, for messages. Must not know what the names mean.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace weir::broker {

/// The entry of `candidates` fewest edits away from `name`, or nothing when none is near (more than half differs).
/// Ties: the first one. O(total length of the candidates x length of the name).
std::string nearest(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace weir::broker
