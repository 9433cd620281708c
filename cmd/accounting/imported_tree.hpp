// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what a reader of another system's accounts returns.
#pragma once
#include <string>
#include <vector>

#include "libfairshare/tree/share_tree.hpp"

namespace weir::cmd {

/// The other system's accounts as a share tree, and what a share tree has no place for.
struct ImportedTree {
    ShareTree tree;
    std::vector<std::string> left_out;  ///< in the order of the file: "tux.cfg:4: QOS='+fast' of user bob in physics"
};

}  // namespace weir::cmd
