// SPDX-License-Identifier: LGPL-3.0-only
// OpenPBS, Grid Engine and HTCondor: what their oracle files do not show.
#include <catch2/catch.hpp>
#include <numeric>

#include "libfairshare/algorithms/gridengine.hpp"
#include "libfairshare/algorithms/htcondor.hpp"
#include "libfairshare/algorithms/htcondor_groups.hpp"
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
    put("g/@a", 100);
    put("g/@b", 100);
    put("@c", 150);
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

TEST_CASE("HTCondor: the real user priority goes to the cores in use and never below one half") {
    const Htcondor rule;
    CHECK(rule.real_priority(0.5, 100, std::chrono::hours{48}) == Approx(75.125));
    CHECK(rule.real_priority(75, 0, std::chrono::hours{24 * 3650}) == 0.5);
    CHECK(effective_priority(7, 1000) == 7000);
}

namespace {

/// Physics with its high and low energy, and chemistry: the manual's groups.
struct Departments {
    CondorGroup physics{{}, 20}, hep{0, 15}, lep{0, 5}, chemistry{{}, 10};
    std::vector<CondorGroupSlots> negotiate(double slots, bool allow_oversubscription = false) const {
        return negotiate_groups(std::vector{physics, hep, lep, chemistry}, slots, allow_oversubscription);
    }
};

CondorGroup wanting(CondorGroup group, double wanted, bool accepts_surplus = false) {
    group.wanted = wanted;
    group.accepts_surplus = accepts_surplus;
    return group;
}

}  // namespace

TEST_CASE("HTCondor groups: static quotas are scaled down level by level, dynamic ones are parts of the parent's") {
    const Departments fixed;
    const auto half = fixed.negotiate(15);
    CHECK(half[0].subtree_quota == Approx(10));
    CHECK(half[1].subtree_quota == Approx(7.5));
    CHECK(half[2].subtree_quota == Approx(2.5));
    CHECK(half[3].subtree_quota == Approx(5));
    CHECK(fixed.negotiate(60)[0].subtree_quota == 20);
    CHECK(fixed.negotiate(15, true)[0].subtree_quota == 20);

    Departments parts;
    parts.physics = {{}, 0.66667, true}, parts.hep = {0, 0.75, true}, parts.lep = {0, 0.25, true};
    parts.chemistry = {{}, 0.33334, true};
    const auto thirty = parts.negotiate(30);  // they add up to 1.00001
    CHECK(thirty[0].subtree_quota == Approx(30 * 0.66667 / 1.00001));
    CHECK(thirty[1].subtree_quota == Approx(0.75 * 30 * 0.66667 / 1.00001));
    CHECK(thirty[0].own_quota == Approx(0).margin(1e-12));
    parts.chemistry = {{}, 10};  // static quotas come first, dynamic ones are parts of what is left
    CHECK(parts.negotiate(30)[0].subtree_quota == Approx(20 * 0.66667));
}

TEST_CASE("HTCondor groups: surplus goes to siblings first and up only past groups that accept it") {
    Departments site;
    site.hep = wanting(site.hep, 60, true);
    site.lep = wanting(site.lep, 1, true);
    site.chemistry = wanting(site.chemistry, 4);
    const auto capped = site.negotiate(30);
    CHECK(capped[1].allocated == Approx(19));  // with low energy's four; physics itself accepts none
    CHECK(capped[2].allocated == Approx(1));
    CHECK(capped[3].allocated == Approx(4));
    site.physics.accepts_surplus = true;
    CHECK(site.negotiate(30)[1].allocated == Approx(25));  // and chemistry's six
    CHECK(site.negotiate(30, true)[1].allocated == Approx(25));
    site.hep.accepts_surplus = false;
    CHECK(site.negotiate(30)[1].allocated == Approx(15));
}

TEST_CASE("HTCondor groups: who competes for surplus gets it by quota, who has none gets what is left") {
    const std::vector<CondorGroup> groups{wanting({{}, 30}, 100, true), wanting({{}, 10}, 100, true),
                                          wanting({{}, 40}, 0), wanting({{}, 0}, 100, true)};
    const auto busy = negotiate_groups(groups, 80, false);
    CHECK(busy[0].allocated == Approx(60));
    CHECK(busy[1].allocated == Approx(20));
    CHECK(busy[3].allocated == Approx(0).margin(1e-12));
    std::vector<CondorGroup> modest = groups;
    modest[0].wanted = 35;
    modest[1].wanted = 15;
    const auto rest = negotiate_groups(modest, 80, false);
    CHECK(rest[0].allocated == Approx(35));
    CHECK(rest[1].allocated == Approx(15));
    CHECK(rest[3].allocated == Approx(30));
}

TEST_CASE("HTCondor groups: who regroups shares by priority what nobody may have by quota") {
    std::vector<CondorGroup> groups{wanting({{}, 10}, 50), wanting({{}, 10}, 50), wanting({{}, 10}, 2)};
    groups[0].regroups = groups[1].regroups = true;
    groups[1].effective_priority = 3;
    const auto slots = negotiate_groups(groups, 42, false);
    CHECK(slots[0].allocated == Approx(25));
    CHECK(slots[0].regrouped == Approx(15));
    CHECK(slots[1].allocated == Approx(15));
    CHECK(slots[2].allocated == Approx(2));
}

TEST_CASE("OpenPBS: without a percentage of the tree all are equal, whatever they used") {
    const ShareTree tree = tree_of({{"g", 0},
                                    {"g/@a", 1},
                                    {"g/@b", 5},
                                    {"g/h", 2},
                                    {"g/h/@c", 1},
                                    {"g/h/@none", 0},
                                    {"z", 0},
                                    {"z/@d", 1},
                                    {"@e", 0},
                                    {"@f", 1}});
    std::vector<CoreMicros> usage(tree.size());
    std::uint64_t used = 0;
    for (const char* path : {"g/@a", "g/@b", "g/h/@c", "g/h/@none", "z/@d", "@e", "@f"}) {
        used += 1000;
        for (NodeId node = at(tree, path);; node = tree.parent(node)) {
            usage[node.value] += used * 1000000;
            if (node == root_node) {
                break;
            }
        }
    }
    const OpenPbs rule;
    Standings standings;
    rule.evaluate(tree, {usage}, standings);
    const std::vector<std::string> none{"g/@a", "g/@b", "g/h/@c", "g/h/@none", "z/@d", "@e"};
    for (const std::string& one : none) {
        CAPTURE(one);
        CHECK(standings.rank[at(tree, one).value] == none.size());
        CHECK(std::is_lt(rule.compare(tree, {usage}, at(tree, "@f"), at(tree, one))));
        for (const std::string& other : none) {
            CAPTURE(other);
            CHECK(std::is_eq(rule.compare(tree, {usage}, at(tree, one), at(tree, other))));
        }
    }
    CHECK(standings.rank[at(tree, "@f").value] == none.size() + 1);
}

TEST_CASE("OpenPBS: usage per share is infinite without shares and 1 unit at least") {
    const ShareTree tree = tree_of({{"@a", 1}, {"@b", 3}, {"@d", 0}});
    std::vector<CoreMicros> usage(tree.size());
    const OpenPbs rule;
    CHECK(rule.usage_per_share(tree, {usage}, at(tree, "@a")) == Approx(4));
    CHECK(rule.usage_per_share(tree, {usage}, at(tree, "@b")) == Approx(4. / 3));
    CHECK(std::isinf(rule.usage_per_share(tree, {usage}, at(tree, "@d"))));
    CHECK(rule.usage_per_share(tree, {usage}, root_node) == 1);
}
