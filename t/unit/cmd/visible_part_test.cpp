// SPDX-License-Identifier: LGPL-3.0-only
// What a user sees of a private instance: sums over the rest of each level, which lose nothing and name nobody.
#include <catch2/catch.hpp>

#include "cmd/serve/visible_part.hpp"

namespace weir::cmd {
namespace {

ShareView tree_of_paths(const std::vector<std::string>& paths) {
    ShareView view;
    view.revision = 3;
    view.author = "root";
    view.reason = "bob asked";
    for (const std::string& path : paths) {
        ShareNode node;
        node.path = path;
        node.shares = static_cast<std::int64_t>(view.nodes.size()) + 1;
        node.entitled = node.used = node.usage_core_s = 1 / 64. * static_cast<double>(node.shares);
        node.factor = 0.5;
        node.running_cores = node.pending_jobs = 10 * node.shares;
        view.nodes.push_back(node);
    }
    return view;
}

std::vector<std::string> paths_of(const ShareView& view) {
    std::vector<std::string> paths;
    for (const ShareNode& node : view.nodes) {
        paths.push_back(node.path);
    }
    return paths;
}

}  // namespace

TEST_CASE("visible part: own associations, accounts above them, and one sum for the rest of each level") {
    const ShareView seen = visible_tree(
        tree_of_paths({"a", "b", "a/@alice", "a/@alicea", "a/@al", "b/@alice:debug", "b/@bob", "c"}), "alice");
    CHECK(paths_of(seen) ==
          std::vector<std::string>{"a", "b", "a/@alice", "b/@alice:debug", "[others]", "a/[others]", "b/[others]"});
    CHECK(seen.nodes[4].shares == 8);
    CHECK(seen.nodes[5].shares == 4 + 5);
    CHECK(seen.nodes[5].entitled == 9 / 64.);
    CHECK(seen.nodes[5].used == 9 / 64.);
    CHECK(seen.nodes[5].usage_core_s == 9 / 64.);
    CHECK(seen.nodes[5].running_cores == 90);
    CHECK(seen.nodes[5].pending_jobs == 90);
    CHECK_FALSE(seen.nodes[5].factor);
    CHECK(seen.revision == 3);
    CHECK((seen.author + seen.reason).empty());
}

TEST_CASE("visible part: an association on top, and a user who has none") {
    CHECK(paths_of(visible_tree(tree_of_paths({"@alice", "@bob"}), "alice")) ==
          std::vector<std::string>{"@alice", "[others]"});
    CHECK(paths_of(visible_tree(tree_of_paths({"a", "a/@bob"}), "alice")) == std::vector<std::string>{"[others]"});
    CHECK(paths_of(visible_tree(tree_of_paths({"@alice"}), "alice")) == std::vector<std::string>{"@alice"});
}

TEST_CASE("visible part: charges of others count where the user sees them, without their path") {
    const ShareView tree = tree_of_paths({"a", "a/@alice", "a/@bob", "b", "b/@carol"});
    InstanceFacts facts;
    facts.charges = {{"a/@alice", 1, -5, 0}, {"a/@bob", 2, -5, 0}, {"b/@carol", 4, -5, 0}};
    const InstanceFacts seen = visible_usage(facts, visible_tree(tree, "alice"));
    REQUIRE(seen.charges.size() == 3);
    CHECK(seen.charges[0].path == "a/@alice");
    CHECK(seen.charges[1].path == "a");
    CHECK(seen.charges[2].path.empty());
    CHECK(seen.charges[2].cores == 4);
    CHECK(seen.rows.size() == 2);
}

TEST_CASE("visible part: of instances the queues stay, with counts alone") {
    InstanceBox user_own{"f3X", 4, 4, 1, 1, "local:///home/bob", {}};
    InstanceBox batch{"batch", 8, 4, 2, 1, "", {user_own}, true};
    batch.way = "12";
    const InstanceBox top = visible_box({"top", 16, 8, 0, 2, "", {batch, user_own}});
    REQUIRE(top.children.size() == 2);
    CHECK(top.children[0].name == "batch");
    CHECK(top.children[0].cores_busy == 4);
    CHECK(top.children[0].children.empty());
    CHECK(top.children[0].way.empty());
    CHECK(top.children[1].name == "an instance");
    CHECK(top.children[1].problem == "it does not serve");
}
}  // namespace weir::cmd
