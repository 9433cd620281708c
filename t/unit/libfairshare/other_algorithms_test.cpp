// SPDX-License-Identifier: LGPL-3.0-only
// OpenPBS, Grid Engine and HTCondor: what their oracle files do not show.
#include <catch2/catch.hpp>
#include <numeric>

#include "libfairshare/algorithms/gridengine.hpp"
#include "libfairshare/algorithms/htcondor.hpp"
#include "libfairshare/algorithms/openpbs.hpp"
#include "t/unit/libfairshare/support.hpp"

using namespace weir;
using namespace weir::testing;

TEST_CASE("OpenPBS: ranks are those of the order of entities, zero shares last") {
    const ShareTree tree = tree_of({{"g", 2}, {"g/@a", 1}, {"g/@b", 3}, {"@c", 1}, {"@d", 0}});
    std::vector<CoreMicros> usage(tree.size());
    const auto put = [&](const char* path, CoreMicros seconds) {
        for (NodeId node = at(tree, path);; node = tree.parent(node)) {
            usage[node.value] += seconds * 1000000;
            if (node == root_node) {
                break;
            }
        }
    };
    put("g/@a", 100), put("g/@b", 100), put("@c", 150);
    const OpenPbs rule;
    Standings standings;
    rule.evaluate(tree, {usage}, standings);
    const std::vector<std::string> order{"g/@b", "g/@a", "@c", "@d"};
    for (std::size_t i = 0; i < order.size(); ++i) {
        CHECK(standings.rank[at(tree, order[i]).value] == order.size() - i);
        for (std::size_t j = i + 1; j < order.size(); ++j) {
            CHECK(std::is_lt(rule.compare(tree, {usage}, at(tree, order[i]), at(tree, order[j]))));
            CHECK(std::is_gt(rule.compare(tree, {usage}, at(tree, order[j]), at(tree, order[i]))));
        }
    }
    CHECK(rule.node_standing(tree, {usage}, at(tree, "@d")).factor == 0.0);
    CHECK(std::is_eq(rule.compare(tree, {usage}, at(tree, "@c"), at(tree, "@c"))));
}

TEST_CASE("Grid Engine: active parts add up to the machine, in proportion where nothing was used") {
    const ShareTree tree = tree_of({{"g", 3}, {"g/@a", 1}, {"g/@b", 1}, {"@c", 1}, {"@idle", 50}});
    std::vector<std::uint64_t> demand(tree.size());
    for (const char* path : {"g/@a", "g/@b", "@c"}) {
        demand[at(tree, path).value] = 1;
    }
    const std::vector<CoreMicros> none(tree.size(), 0);
    const auto parts = GridEngine{}.targets(tree, {none, {}, demand});
    CHECK(parts[at(tree, "@idle").value].short_term == 0);
    CHECK(parts[at(tree, "g").value].long_term == 0.75);
    CHECK(parts[at(tree, "g/@a").value].short_term + parts[at(tree, "g/@b").value].short_term +
              parts[at(tree, "@c").value].short_term ==
          Approx(1));
    Standings standings;
    GridEngine{}.evaluate(tree, {none, {}, demand}, standings);
    CHECK(standings.rank[at(tree, "@idle").value] == 1);
    CHECK(standings.factor[at(tree, "g/@a").value] == 1.0);
    CHECK(share_tickets(0.5, 100, std::vector<double>{3, 1}) == std::vector<double>{37.5, 12.5});
}

TEST_CASE("Grid Engine: nobody active, nobody gets anything") {
    const ShareTree tree = tree_of({{"@a", 1}});
    Standings standings;
    GridEngine{}.evaluate(tree, {std::vector<CoreMicros>(2, 0), {}, std::vector<std::uint64_t>(2, 0)}, standings);
    CHECK(standings.factor[1] == 0.0);
}

TEST_CASE("HTCondor: what one does not want goes to the others, floors first, ceilings never passed") {
    const std::vector<PieSubmitter> three{{1, 10, 0, 1e9}, {1, 1e9, 0, 40}, {2, 1e9, 0, 1e9}};
    CHECK(pie_slices(three, 100) == std::vector<double>{10, 40, 50});
    const std::vector<PieSubmitter> leased{{1000, 1e9, 30, 1e9}, {1, 1e9, 0, 1e9}};
    const auto slices = pie_slices(leased, 100);
    CHECK(slices[0] >= 30);
    CHECK(slices[0] + slices[1] == Approx(100));
    CHECK(pie_slices(std::vector<PieSubmitter>{{1, 1e9, 60, 1e9}, {1, 1e9, 60, 1e9}}, 100) ==
          std::vector<double>{50, 50});
    CHECK(pie_slices(std::vector<PieSubmitter>{{1, 5, 0, 1e9}}, 100) == std::vector<double>{5});
}

TEST_CASE("HTCondor: quotas are scaled down, never up, and not where more may be promised") {
    const std::vector<double> quotas{20, 10};
    CHECK(effective_quotas(quotas, 15, false) == std::vector<double>{10, 5});
    CHECK(effective_quotas(quotas, 15, true) == quotas);
    CHECK(effective_quotas(quotas, 60, false) == quotas);
}

TEST_CASE("HTCondor: the real user priority goes to the cores in use and never below one half") {
    const Htcondor rule;
    CHECK(rule.real_priority(0.5, 100, std::chrono::hours{48}) == Approx(75.125));
    CHECK(rule.real_priority(75, 0, std::chrono::hours{24 * 3650}) == 0.5);
    CHECK(effective_priority(7, 1000) == 7000);
}
