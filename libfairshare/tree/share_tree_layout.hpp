// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the layout of valid nodes as the flat arrays of a ShareTree, breadth first, and its indices. Must not know: the
// rules (share_tree_builder.hpp), errors.
#pragma once
#include <cstdint>
#include <vector>

#include "libfairshare/tree/share_tree_builder.hpp"

namespace weir {

/// The parent of a node directly below the root.
inline constexpr std::uint32_t below_root = 0xffffffffU;

/// `parents`: of each spec the index of its parent's spec or below_root. REQUIRES: specs that keep all rules.
/// Children keep the order of the specs. O(n log n).
ShareTree lay_out_tree(const std::vector<NodeSpec>& specs, const std::vector<std::uint32_t>& parents);

}  // namespace weir
