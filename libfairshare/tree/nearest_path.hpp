// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the node that a mistyped reference may mean. Must not know who asks.
#pragma once
#include <string>
#include <string_view>

#include "libfairshare/tree/share_tree.hpp"

namespace weir {

/// `did you mean "physics/@alice"?` or an empty string. O(nodes x length).
std::string did_you_mean_path(const ShareTree& tree, std::string_view reference);

}  // namespace weir
