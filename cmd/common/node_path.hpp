// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the ways in which people name a node of the share tree. Must not know instances. Pure.
#pragma once
#include <string>

#include "libfairshare/base/result.hpp"
#include "libfairshare/tree/share_tree.hpp"

namespace weir::cmd {

/// The full path of a node that the tree has: from its path, "account/@user" with an account by its last component, a
/// user's name who stands on one line alone ("alice", "@alice"), or an account's last component. Errors: ENOENT with
/// the nearest path, EINVAL with all lines of a user who has several.
Result<std::string> node_path(const ShareTree& tree, const std::string& reference);

}  // namespace weir::cmd
