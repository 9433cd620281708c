// SPDX-License-Identifier: LGPL-3.0-only
// Owns: paths of a share tree as an indented tree with branch lines. Pure.
#pragma once
#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "cmd/common/text.hpp"

namespace weir::cmd {

struct TreeRow {
    std::size_t index = 0;  ///< of the input
    std::string label;      ///< "├─ @alice"
    bool is_user = false;
};

/// Rows for different paths in any order, in the order of drawing: depth first, siblings in their given order. O(n (log
/// n + depth)).
std::vector<TreeRow> tree_rows_of(const std::vector<std::string>& paths, Glyphs glyphs);

/// The same for any records with a `path`.
template <typename Record>
std::vector<TreeRow> tree_rows(const std::vector<Record>& records, Glyphs glyphs) {
    std::vector<std::string> paths(records.size());
    std::transform(records.begin(), records.end(), paths.begin(), [](const Record& r) { return r.path; });
    return tree_rows_of(paths, glyphs);
}

}  // namespace weir::cmd
