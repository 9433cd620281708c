// SPDX-License-Identifier: LGPL-3.0-only
#include "libfairshare/algorithms/algorithm.hpp"
#include "libfairshare/algorithms/deserved_shares.hpp"
#include "t/unit/libfairshare/support.hpp"

using namespace weir;
using namespace weir::testing;

namespace {

struct DemandWorld {
    ShareTree tree;
    std::vector<std::uint64_t> demand;

    DemandWorld(const Lines& lines, const std::vector<std::pair<std::string, std::uint64_t>>& wanted)
        : tree(tree_of(lines)), demand(tree.size(), 0) {
        for (const auto& [path, cores] : wanted) {
            demand[at(tree, path).value] = cores;
        }
    }
    double cores(std::uint64_t capacity, std::string_view path) const {
        return deserved_shares(tree, demand, capacity).cores(at(tree, path));
    }
};

}  // namespace

TEST_CASE("deserved shares: an idle user's part goes to the siblings by their shares") {
    const DemandWorld made{{{"@idle", 2}, {"@a", 1}, {"@b", 1}}, {{"@a", 100}, {"@b", 100}}};
    CHECK(made.cores(100, "@a") == 50);
    CHECK(made.cores(100, "@idle") == 0);
}

TEST_CASE("deserved shares: nobody gets more than he wants, the rest stands at the same level a share") {
    const DemandWorld made{{{"@little", 1}, {"@a", 1}, {"@b", 2}}, {{"@little", 10}, {"@a", 100}, {"@b", 100}}};
    CHECK(made.cores(100, "@little") == 10);
    CHECK(made.cores(100, "@a") == 30);
    CHECK(made.cores(100, "@b") == 60);
}

TEST_CASE("deserved shares: what an account leaves over stays with its siblings, not with its cousins' users") {
    const DemandWorld made{{{"x", 1}, {"y", 1}, {"x/@a", 1}, {"x/@b", 1}, {"y/@c", 1}},
                           {{"x/@a", 100}, {"x/@b", 10}, {"y/@c", 20}}};
    CHECK(made.cores(100, "y") == 20);
    CHECK(made.cores(100, "x") == 80);
    CHECK(made.cores(100, "x/@b") == 10);
    CHECK(made.cores(100, "x/@a") == 70);
}

TEST_CASE("deserved shares: enough for all gives everyone what he wants; no shares, nothing") {
    const DemandWorld made{{{"@a", 1}, {"@b", 1}, {"@none", 0}}, {{"@a", 3}, {"@b", 4}, {"@none", 5}}};
    CHECK(made.cores(100, "@a") == 3);
    CHECK(made.cores(100, "@b") == 4);
    CHECK(made.cores(100, "@none") == 0);
    CHECK(made.cores(100, "") == 7);
}

TEST_CASE("deserved shares: without a known capacity demand tells who takes part") {
    const DemandWorld made{{{"@a", 1}, {"@b", 3}, {"@idle", 4}}, {{"@a", 1}, {"@b", 1000}}};
    const DeservedShares deserved = deserved_shares(made.tree, made.demand, 0);
    CHECK(deserved.amount[at(made.tree, "@b").value] == 3 * deserved.amount[at(made.tree, "@a").value]);
    CHECK(deserved.amount[at(made.tree, "@idle").value] == 0);
}

TEST_CASE("deserved shares: users with parent shares are filled before their siblings") {
    auto lines = specs({{"@first", 1}, {"@a", 1}, {"@b", 1}});
    lines[0].shares_parent = true;
    const ShareTree tree = std::get<ShareTree>(build_share_tree(lines));
    const DeservedShares deserved = deserved_shares(tree, std::vector<std::uint64_t>{0, 40, 100, 100}, 100);
    CHECK(deserved.cores(NodeId{1}) == 40);
    CHECK(deserved.cores(NodeId{2}) == 30);
}

TEST_CASE("demand capped: who used the same ranks by what he deserves now") {
    const DemandWorld made{{{"x", 1}, {"y", 1}, {"x/@a", 1}, {"x/@b", 1}, {"y/@c", 1}},
                           {{"x/@a", 100}, {"x/@b", 10}, {"y/@c", 20}}};
    std::vector<CoreMicros> usage(made.tree.size(), 0);
    usage[at(made.tree, "x/@a").value] = 40;
    usage[at(made.tree, "x/@b").value] = 40;
    usage[at(made.tree, "y/@c").value] = 40;
    usage[at(made.tree, "x").value] = 80;
    usage[at(made.tree, "y").value] = 40;
    usage[0] = 120;
    const Measures measures{.usage = usage, .demand = made.demand, .capacity = 100};
    const Standings standings = evaluate(DemandCapped{}, made.tree, measures);
    CHECK(standings.rank[at(made.tree, "x/@a").value] == 3);  // x deserves 80 of 100 and used 80 of 120
    CHECK(standings.rank[at(made.tree, "x/@b").value] == 2);
    CHECK(standings.rank[at(made.tree, "y/@c").value] == 1);
    CHECK(node_standing(DemandCapped{}, made.tree, measures, at(made.tree, "x")).norm_shares == 0.8);
    CHECK(evaluate(FairTree{}, made.tree, usage).rank[at(made.tree, "y/@c").value] == 3);
}
