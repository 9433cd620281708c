// SPDX-License-Identifier: LGPL-3.0-only
#include <rapidcheck/catch.h>

#include "libfairshare/toml/share_tree_edit.hpp"
#include "libfairshare/toml/share_tree_toml.hpp"
#include "libfairshare/tree/share_tree_diff.hpp"
#include "t/unit/libfairshare/generators.hpp"

using namespace weir;
using namespace weir::testing;

// Kills: a writer that leaves out nodes below empty accounts, or their order; a reader that takes the table's order.
TEST_CASE("share tree text: writing and reading gives the tree again") {
    rc::prop("round trip", [] {
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
    rc::prop("there and back", [] {
        const auto lines = random_lines();
        const ShareTree tree = tree_of_random(lines);
        const std::string text = "# head\n" + write_share_tree(tree) + "# tail";
        const auto begins_another = [&](const RandomLine& line) {
            return std::any_of(lines.begin(), lines.end(), [&](const RandomLine& other) {
                return other.path.size() > line.path.size() && other.path.starts_with(line.path);
            });
        };
        const auto found = std::find_if(lines.rbegin(), lines.rend(), begins_another);
        const RandomLine& line =
            found != lines.rend() ? *found : lines[*rc::gen::inRange<std::size_t>(0, lines.size())];
        const auto there = set_shares_line(text, line.path, 77);
        RC_ASSERT(std::holds_alternative<std::string>(there));
        const auto changed = parse_share_tree(std::get<std::string>(there));
        RC_ASSERT(diff_trees(tree, std::get<ShareTree>(changed)).size() == 1);
        const auto back =
            set_shares_line(std::get<std::string>(there), line.path, static_cast<std::uint32_t>(line.shares));
        RC_ASSERT(std::get<std::string>(back) == text);
    });
}
