// SPDX-License-Identifier: LGPL-3.0-only
// Owns: edits of a share tree's text that change one line and keep every other byte, comments included.
// Must not know: files, revisions, usage. Each edit checks the text before and the tree after.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "libfairshare/tree/share_tree_builder.hpp"

namespace weir {

/// The new text, or the errors. A text that is not a valid tree before or after the edit is never changed.
using EditedText = std::variant<std::string, Diagnostics>;

/// Sets one field on the line of the node with this full path: `field` as in tree/node_fields ("shares", "cores_max",
/// "target", "at.debug"), `value` as TOML has it (`40`, `"36h"`, `[64, 128]`); empty: removes the field. A line that
/// was a number becomes a table if needed.
EditedText set_field_line(std::string_view text, std::string_view path, std::string_view field, std::string_view value);
/// Adds `"path" = shares` below the last line of the parent's subtree (below the last node for a new top account).
EditedText add_node_line(std::string_view text, std::string_view path, std::uint32_t shares);
/// The node's line without its newline; none if there is no such line.
std::optional<std::string> node_line(std::string_view text, std::string_view path);
/// Removes the node's line, its trailing comment included. Errors: the node has nodes below it.
EditedText remove_node_line(std::string_view text, std::string_view path);

}  // namespace weir
