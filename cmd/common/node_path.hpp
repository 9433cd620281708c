// SPDX-License-Identifier: LGPL-3.0-only
// Owns: resolving the names that people use for a node of the share tree. Must not know instances. Pure.
#pragma once
#include <string>

#include "libfairshare/base/result.hpp"
#include "libfairshare/tree/share_tree.hpp"

namespace weir::cmd {

/// The full path of a node of the tree, from its path, from "account/@user" with an account by its last component, from
/// the name of a user with a single line ("alice", "@alice"), or from an account's last component. Errors: ENOENT with
/// the nearest path, EINVAL with all lines of a user who has several.
Result<std::string> node_path(const ShareTree& tree, const std::string& reference);

}  // namespace weir::cmd
