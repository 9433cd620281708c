// SPDX-License-Identifier: LGPL-3.0-only
#include "libfairshare/algorithms/algorithm.hpp"

#include "t/unit/libfairshare/support.hpp"

using namespace weir;
using namespace weir::testing;

TEST_CASE("algorithms: each is found by its name, the default first") {
    CHECK(algorithms().front().name == "fair-tree");
    for (const AlgorithmEntry& entry : algorithms()) {
        CHECK(algorithm_named(entry.name)->index() == entry.algorithm.index());
    }
    CHECK(std::get<FairTree>(*algorithm_named("weighted-tree")).users_before_tied_accounts);
}

TEST_CASE("algorithms: an unknown name is answered with the nearest and the list") {
    CHECK(algorithm_named("fairtree").error().message ==
          "unknown fair-share algorithm \"fairtree\"; did you mean \"fair-tree\"? known are fair-tree, "
          "fair-tree-as-slurm, classic, depth-oblivious, dynamic-user, served-share, demand-capped, targets, "
          "weighted-tree");
}

TEST_CASE("algorithms: a tree without users is ranked without complaint") {
    const ShareTree tree = tree_of({{"a", 1}});
    for (const AlgorithmEntry& entry : algorithms()) {
        const Standings standings = evaluate(entry.algorithm, tree, std::vector<CoreMicros>(2, 0));
        CHECK(standings.rank == std::vector<std::uint32_t>{0, 0});
        CHECK(node_standing(entry.algorithm, tree, std::vector<CoreMicros>(2, 0), NodeId{1}).norm_shares == 1.0);
    }
}
