// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the TOML form of a share tree: reading it with the position of every error, writing it in canonical form.
// Must not know: files, usage. One line a node: `"physics/lattice/@alice" = 1`, `"lattice" = { parent = "physics",
// shares = 2 }`, `"bio/@*" = 1`, `"bio/@eve" = "parent"`, `"bio" = { shares = 10, at.debug = 20, target = "16.5+",
// cores_max = [64, 128] }`: see tree/node_fields.hpp. Only share_tree_toml.cpp includes toml++.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "libfairshare/tree/share_tree_builder.hpp"

namespace weir {

/// A field of a node's line and its position, for edits: byte offsets into the text.
struct TomlField {
    std::string name;          ///< "shares", "cores_max", "at.debug"
    std::size_t begin = 0;     ///< the key; where the value is the whole line's ("bio" = 10) the value
    std::size_t value = 0;     ///< the value
    std::size_t end = 0;       ///< past the value
    bool is_in_table = false;  ///< the last part of the name is in braces of its own: at = { debug = 20 }
};

/// A node's line and the positions of its parts.
struct TomlNode {
    NodeSpec spec;
    std::size_t line_begin = 0;     ///< first byte of the line
    std::size_t line_end = 0;       ///< past its newline; a list in the value may have several lines
    std::size_t value = 0;          ///< right of the equals sign: a number, a text, a table in braces
    std::size_t value_end = 0;      ///< past it
    std::vector<TomlField> fields;  ///< in the text's order
};

/// The lines of a text in order. Errors: TOML syntax (every faulty line is reported, not the first alone), keys twice,
/// shares that are not whole numbers, unknown keys.
std::variant<std::vector<TomlNode>, Diagnostics> read_share_tree_lines(std::string_view text,
                                                                       std::string_view file = "shares.toml");

/// From text to tree, or all errors of both stages, sorted by position.
ShareTreeOrDiagnostics parse_share_tree(std::string_view text, std::string_view file = "shares.toml");

/// The canonical text: one line a node in path form, parents before children, no comments; members that joined by `@*`
/// are left out. parse_share_tree() of it gives an equal tree, but for the order of lines in different accounts, by
/// which users have their default accounts.
std::string write_share_tree(const ShareTree& tree);
/// The same with the lines in this order.
std::string write_share_tree(const ShareTree& tree, std::span<const NodeId> order);

}  // namespace weir
