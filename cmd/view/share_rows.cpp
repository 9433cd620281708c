// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which branch line is ahead of which name.
#include "cmd/view/share_rows.hpp"

#include <map>
#include <set>

namespace weir::cmd {
namespace {

std::string parent_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "" : path.substr(0, slash);
}

/// Depth first, siblings in their given order; a path without a parent among the paths is at the top.
std::vector<std::size_t> depth_first(const std::vector<std::string>& paths) {
    const std::set<std::string> known(paths.begin(), paths.end());
    std::map<std::string, std::vector<std::size_t>> below;
    for (std::size_t i = 0; i < paths.size(); ++i) {
        const std::string parent = parent_of(paths[i]);
        below[known.count(parent) > 0 ? parent : ""].push_back(i);
    }
    std::vector<std::size_t> order;
    std::vector<std::size_t> open(below[""].rbegin(), below[""].rend());
    while (!open.empty()) {
        const std::size_t i = open.back();
        open.pop_back();
        order.push_back(i);
        const std::vector<std::size_t>& members = below[paths[i]];
        open.insert(open.end(), members.rbegin(), members.rend());
    }
    return order;
}

}  // namespace

std::vector<TreeRow> tree_rows_of(const std::vector<std::string>& paths, Glyphs glyphs) {
    const std::vector<std::size_t> order = depth_first(paths);
    std::map<std::string, std::size_t> last_child;  // parent -> index of its last child
    for (const std::size_t i : order) {
        last_child[parent_of(paths[i])] = i;
    }
    std::map<std::string, std::string> stem;  // path -> what is ahead of its children's branches
    std::vector<TreeRow> rows;
    for (const std::size_t i : order) {
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
