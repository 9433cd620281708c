// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the nearest name to a mistyped one.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace weir::cmd {

/// The candidate nearest to `word`, at most a third of its length (but one edit at least) away; ties: the first one. A
/// candidate that begins with `word` counts as one edit away. Empty when there is none.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace weir::cmd
