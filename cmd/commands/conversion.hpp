// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the common end of the commands that convert the share tree from and to another system's files.
#pragma once
#include <string>
#include <vector>

#include "cmd/accounting/imported_tree.hpp"
#include "cmd/cli/command.hpp"
#include "cmd/common/text.hpp"
#include "libfairshare/base/result.hpp"
#include "libfairshare/toml/share_tree_toml.hpp"

namespace weir::cmd {

/// What a conversion leaves out, one line each below the title; nothing where there is none.
inline void note_left_out(const Context& context, const std::vector<std::string>& left_out, const std::string& title) {
    if (left_out.empty()) {
        return;
    }
    std::string text = title;
    for (const std::string& line : left_out) {
        text += "\n  " + printable(line);
    }
    context.note(text);
}

/// Prints the tree as TOML, or why there is none.
inline Exit print_imported(const Context& context, const Result<ImportedTree>& read) {
    if (!read) {
        return context.fail(Exit::invalid_tree, read.error().message + ".");
    }
    note_left_out(context, read->left_out, "This is not in the tree:");
    context.print(write_share_tree(read->tree));
    return Exit::ok;
}

}  // namespace weir::cmd
