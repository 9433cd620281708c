// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the JSON form of a share tree: reading it with the position of every error, writing it in canonical form.
// Must not know: files, usage, TOML. The fields of a node are those of the TOML form: see tree/node_fields.hpp.
#pragma once
#include <string>
#include <string_view>

#include "libfairshare/tree/share_tree_builder.hpp"

namespace weir {

/// {"version": 1, "nodes": {"physics": 3, "physics/@alice": {"shares": 1, "cores_max": [64, 128]}}}: paths in the order
/// of the children. A text that is not JSON yields one error; any other text yields all errors, sorted by position.
ShareTreeOrDiagnostics parse_share_tree_json(std::string_view text, std::string_view file = "shares.json");

/// The canonical text: one line a node in path form, parents before children; members that joined by `@*` are left out.
/// parse_share_tree_json() of it gives an equal tree.
std::string write_share_tree_json(const ShareTree& tree);

}  // namespace weir
