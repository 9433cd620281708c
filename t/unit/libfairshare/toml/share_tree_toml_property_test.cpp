// SPDX-License-Identifier: LGPL-3.0-only
#include <catch2/catch.hpp>

#include "libfairshare/toml/share_tree_edit.hpp"
#include "libfairshare/toml/share_tree_toml.hpp"
#include "libfairshare/tree/share_tree_diff.hpp"
#include "t/unit/draws.hpp"
#include "t/unit/libfairshare/generators.hpp"

using namespace weir;
using namespace weir::testing;

// Kills: a writer that leaves out nodes below empty accounts, or their order; a reader that takes the table's order.
TEST_CASE("share tree text: writing and reading gives the tree again") {
    draw::property("round trip", [] {
        const ShareTree tree = tree_of_random(random_lines());
        const std::string text = write_share_tree(tree);
        const auto again = parse_share_tree(text);
        RC_ASSERT(std::holds_alternative<ShareTree>(again));
        RC_ASSERT(diff_trees(tree, std::get<ShareTree>(again)).empty());
        RC_ASSERT(write_share_tree(std::get<ShareTree>(again)) == text);
    });
}

// Kills: an edit that replaces the first match of a name instead of the node's own line.
TEST_CASE("edit: setting shares there and back gives the same bytes") {
    draw::property("there and back", [] {
        const auto lines = random_lines();
        const ShareTree tree = tree_of_random(lines);
        const std::string text = "# head\n" + write_share_tree(tree) + "# tail";
        const auto begins_another = [&](const RandomLine& line) {
            return std::any_of(lines.begin(), lines.end(), [&](const RandomLine& other) {
                return other.path.size() > line.path.size() && other.path.starts_with(line.path);
            });
        };
        const auto found = std::find_if(lines.rbegin(), lines.rend(), begins_another);
        const RandomLine& line = found != lines.rend() ? *found : lines[draw::in_range<std::size_t>(0, lines.size())];
        const auto there = set_field_line(text, line.path, "shares", "77");
        RC_ASSERT(std::holds_alternative<std::string>(there));
        const auto changed = parse_share_tree(std::get<std::string>(there));
        RC_ASSERT(diff_trees(tree, std::get<ShareTree>(changed)).size() == 1);
        const auto back =
            set_field_line(std::get<std::string>(there), line.path, "shares", std::to_string(line.shares));
        RC_ASSERT(std::get<std::string>(back) == text);
    });
}

// Kills: a field taken away with the comma of its neighbour; one written into the table of another.
TEST_CASE("edit: fields set in any order and taken away in any order leave the tree as it was") {
    draw::property("any order", [] {
        const ShareTree tree = tree_of_random(random_lines());
        std::string text = "# head\n" + write_share_tree(tree) + "# tail";
        std::vector<NodeId> nodes;
        for (std::uint32_t i = 1; i < tree.size(); ++i) {
            if (!tree.is_materialised(NodeId{i})) {
                nodes.push_back(NodeId{i});
            }
        }
        const std::string path = tree.path(draw::element_of(nodes));
        using Field = std::pair<std::string, std::string>;
        const std::vector<Field> known{{"cores_max", "[64, 128]"}, {"nodes_max", "4"}, {"wall_time_max", "\"36h\""},
                                       {"target", "\"30%\""},      {"at.debug", "20"}, {"at.night", "7"}};
        const auto order = draw::several([&] { return draw::element_of(known); }, known.size());
        std::vector<Field> written;
        for (const Field& field : order) {
            auto edited = set_field_line(text, path, field.first, field.second);
            if (const auto* why = std::get_if<Diagnostics>(&edited)) {
                RC_FAIL(field.first + ": " + to_string(*why));
            }
            text = std::get<std::string>(std::move(edited));
            if (std::find(written.begin(), written.end(), field) == written.end()) {
                written.push_back(field);
            }
        }
        const auto between = diff_trees(tree, std::get<ShareTree>(parse_share_tree(text)));
        RC_ASSERT(between.size() == 1U && between[0].fields.size() == written.size());
        while (!written.empty()) {
            const auto at = draw::in_range<std::size_t>(0, written.size());
            text = std::get<std::string>(set_field_line(text, path, written[at].first, ""));
            written.erase(written.begin() + static_cast<std::ptrdiff_t>(at));
        }
        RC_ASSERT(diff_trees(tree, std::get<ShareTree>(parse_share_tree(text))).empty());
        RC_ASSERT(text.starts_with("# head\n") && text.ends_with("# tail"));
    });
}
