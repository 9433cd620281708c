// SPDX-License-Identifier: LGPL-3.0-only
#include "libfairshare/algorithms/algorithm.hpp"
#include "t/unit/libfairshare/support.hpp"

using namespace weir;
using namespace weir::testing;

TEST_CASE("served share: a half as entitled, a third with twice of that, 1 without usage") {
    const ShareTree tree = tree_of({{"a", 1}, {"b", 1}, {"a/@u", 1}, {"a/@v", 1}, {"b/@w", 1}});
    std::vector<CoreMicros> usage(tree.size(), 0);
    usage[at(tree, "a/@u").value] = 20;
    usage[at(tree, "a").value] = 20;
    usage[at(tree, "b/@w").value] = 20;
    usage[at(tree, "b").value] = 20;
    usage[0] = 40;
    const Standings standings = evaluate(ServedShare{}, tree, usage);
    CHECK(standings.factor[at(tree, "b/@w").value] == 0.5);
    CHECK(standings.factor[at(tree, "a/@u").value] == Approx(1.0 / 3));
    CHECK(standings.factor[at(tree, "a/@v").value] == 1.0);
    CHECK(standings.rank[at(tree, "a/@v").value] == 3);
    CHECK(standings.rank[at(tree, "a/@u").value] == 1);
    CHECK(node_standing(ServedShare{}, tree, usage, at(tree, "a")).factor == 0.5);
}

TEST_CASE("served share: parent shares are served as the parent is") {
    auto lines = specs({{"a", 1}, {"b", 3}, {"a/@u", 1}});
    lines[2].shares_parent = true;
    const ShareTree tree = std::get<ShareTree>(build_share_tree(lines));
    std::vector<CoreMicros> usage(tree.size(), 10);
    usage[0] = 20;
    const Standings standings = evaluate(ServedShare{}, tree, usage);
    CHECK(standings.factor[at(tree, "a/@u").value] == Approx(0.25 / 0.75));
    CHECK(node_standing(ServedShare{}, tree, usage, at(tree, "a/@u")).factor == standings.factor[3]);
}
