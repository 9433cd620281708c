// SPDX-License-Identifier: LGPL-3.0-only
// What a user sees of a private instance: sums over the rest of each level, which lose nothing and name nobody.
#include <catch2/catch.hpp>

#include "cmd/serve/visible_part.hpp"

namespace weir::cmd {
namespace {

/// As alice was told it.
ShareView tree_told() {
    ShareView view;
    for (const char* path : {"a", "a/@alice", "[others]", "a/[others]"}) {
        view.nodes.emplace_back();
        view.nodes.back().path = path;
        view.nodes.back().is_sum = view.nodes.back().path.ends_with("[others]");
    }
    return view;
}

}  // namespace

TEST_CASE("visible part: charges of others count where the user sees them, without their path") {
    InstanceFacts facts;
    facts.charges = {{"a/@alice", 1, -5, 0}, {"a/@bob", 2, -5, 0}, {"b/@carol", 4, -5, 0}};
    const InstanceFacts seen = visible_usage(facts, tree_told());
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
