// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what must hold for every text that claims to be a share tree, however broken.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "libfairshare/base/check.hpp"
#include "libfairshare/toml/share_tree_edit.hpp"
#include "libfairshare/toml/share_tree_toml.hpp"
#include "libfairshare/tree/share_tree_diff.hpp"

using namespace weir;

namespace {

void check_round_trip(const ShareTree& tree) {
    const std::string canonical = write_share_tree(tree);
    const auto again = parse_share_tree(canonical);
    WEIR_CHECK(std::holds_alternative<ShareTree>(again));
    WEIR_CHECK(diff_trees(tree, std::get<ShareTree>(again)).empty());
    WEIR_CHECK(write_share_tree(std::get<ShareTree>(again)) == canonical);
}

void check_edits(std::string_view text, const ShareTree& tree) {
    const std::string path = tree.path(NodeId{tree.size() - 1});
    const auto edited = set_field_line(text, path, "shares", "41");
    WEIR_CHECK(std::holds_alternative<std::string>(edited));
    const auto after = parse_share_tree(std::get<std::string>(edited));
    WEIR_CHECK(std::holds_alternative<ShareTree>(after));
    const auto& changed = std::get<ShareTree>(after);
    WEIR_CHECK(changed.find(path) && changed.shares(*changed.find(path)) == 41);
    for (const char* field : {"nodes_max", "at.debug", "wall_time_max"}) {
        const auto set = set_field_line(text, path, field, field[0] == 'w' ? "\"41s\"" : "41");
        if (const auto* there = std::get_if<std::string>(&set)) {
            WEIR_CHECK(std::holds_alternative<std::string>(set_field_line(*there, path, field, "")));
        }
    }
    const auto added = add_node_line(text, "new-account", 3);
    WEIR_CHECK(tree.find("new-account") || std::holds_alternative<std::string>(added) ||
               !std::get<Diagnostics>(added).empty());
    const auto removed = remove_node_line(text, path);
    WEIR_CHECK(std::holds_alternative<std::string>(removed) || !std::get<Diagnostics>(removed).empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    const auto parsed = parse_share_tree(text);
    if (const auto* diagnostics = std::get_if<Diagnostics>(&parsed)) {
        WEIR_CHECK(!diagnostics->empty());
        for (const Diagnostic& diagnostic : *diagnostics) {
            WEIR_CHECK(!diagnostic.message.empty());
            WEIR_CHECK(diagnostic.position.line > 0);
        }
        return 0;
    }
    const auto& tree = std::get<ShareTree>(parsed);
    check_round_trip(tree);
    if (tree.size() > 1) {
        check_edits(text, tree);
    }
    return 0;
}
