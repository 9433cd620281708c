// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which branch line stands before which name.
#include "cmd/view/share_rows.hpp"

#include <map>

namespace weir::cmd {
namespace {

std::string parent_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "" : path.substr(0, slash);
}

}  // namespace

std::vector<TreeRow> tree_rows_of(const std::vector<std::string>& paths, Glyphs glyphs) {
    std::map<std::string, std::size_t> last_child;  // parent -> index of its last child
    for (std::size_t i = 0; i < paths.size(); ++i) {
        last_child[parent_of(paths[i])] = i;
    }
    std::map<std::string, std::string> stem;  // path -> what stands before its children's branches
    std::vector<TreeRow> rows;
    for (std::size_t i = 0; i < paths.size(); ++i) {
        const std::string parent = parent_of(paths[i]);
        const std::string name = paths[i].substr(parent.empty() ? 0 : parent.size() + 1);
        const bool is_last = last_child[parent] == i;
        TreeRow row{i, name, !name.empty() && name[0] == '@'};
        if (!parent.empty()) {
            const std::string& before = stem[parent];
            row.label = before + (glyphs.unicode ? (is_last ? "└─ " : "├─ ") : (is_last ? "`- " : "|- ")) + name;
            stem[paths[i]] = before + (is_last ? "   " : glyphs.unicode ? "│  " : "|  ");
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace weir::cmd
