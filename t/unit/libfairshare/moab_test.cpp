// SPDX-License-Identifier: LGPL-3.0-only
#include "libfairshare/algorithms/moab.hpp"

#include <catch2/catch.hpp>

#include "t/unit/libfairshare/support.hpp"

using namespace weir;
using namespace weir::testing;

TEST_CASE("Moab: a cap without a suffix is relative, a target is no cap") {
    CHECK(to_cap("10") == FairShareTarget{TargetKind::relative_cap, 10});
    CHECK(to_cap("10%") == FairShareTarget{TargetKind::relative_cap, 10});
    CHECK(to_cap("16500^") == FairShareTarget{TargetKind::absolute_cap, 16500});
    for (const char* bad : {"", "10+", "10-", "-5", "ten"}) {
        CHECK_FALSE(to_cap(bad));
    }
}

TEST_CASE("Moab: no target, or 0, falls back on the default's") {
    const FairShareTarget fallback{TargetKind::target, 10};
    CHECK(effective_target({}, fallback) == fallback);
    CHECK(effective_target(FairShareTarget{TargetKind::floor, 0}, fallback) == fallback);
    CHECK(effective_target(FairShareTarget{TargetKind::floor, 5}, fallback) == FairShareTarget{TargetKind::floor, 5});
    CHECK_FALSE(effective_target({}, {}));
}

TEST_CASE("Moab: a cap blocks what would pass it and admits what reaches it") {
    const FairShareTarget absolute{TargetKind::absolute_cap, 100};
    CHECK(cap_admits(absolute, 60, 0, 40));
    CHECK_FALSE(cap_admits(absolute, 60, 0, 41));
    const FairShareTarget relative{TargetKind::relative_cap, 10};
    CHECK(cap_admits(relative, 9, 100, 1));
    CHECK_FALSE(cap_admits(relative, 9, 100, 2));
    CHECK(cap_admits(relative, 0, 0, 5));  // the first job of all
    CHECK(cap_admits({TargetKind::ceiling, 5}, 1000, 1000, 1000));
    CHECK(cap_projection(relative, 9, 100, 1) == 10);
}

TEST_CASE("Moab: caps bound a component upwards only") {
    const FsPart under{FairShareTarget{TargetKind::target, 50}, 10, 2, 30};
    const FsPart over{FairShareTarget{TargetKind::target, 10}, 90, 2, 30};
    CHECK(fs_component(std::vector{under}, 10) == 600);
    CHECK(fs_component(std::vector{under}, 10, 25) == 250);
    CHECK(fs_component(std::vector{over}, 10, 25) == -1600);
}

TEST_CASE("Moab: down a tree, as entitled is one half and tiers weigh by the tier weight") {
    const ShareTree tree = tree_of({{"g", 1}, {"g/@a", 1}, {"g/@b", 1}, {"h", 1}, {"h/@c", 1}});
    std::vector<CoreMicros> usage(tree.size());
    const auto put = [&](const char* path, CoreMicros used) { usage[at(tree, path).value] = used; };
    usage[0] = 4;
    put("g", 2);
    put("g/@a", 1);
    put("g/@b", 1);
    put("h", 2);
    put("h/@c", 2);
    Standings standings;
    Moab{}.evaluate(tree, {usage}, standings);
    for (const char* path : {"g/@a", "g/@b", "h/@c"}) {
        CHECK(standings.factor[at(tree, path).value] == 0.5);
        CHECK(standings.rank[at(tree, path).value] == 3);
    }
    // a: tier one 50 - 75, tier two 50 - 100, the second weighing half: (-25 - 25) / 1.5 points
    usage[0] = 4;
    put("g", 3);
    put("g/@a", 3);
    put("g/@b", 0);
    put("h", 1);
    put("h/@c", 1);
    Moab{}.evaluate(tree, {usage}, standings);
    CHECK(standings.factor[at(tree, "g/@a").value] == Approx(0.5 - 0.5 / 1.5 / 2));
    CHECK(standings.factor[at(tree, "g/@b").value] == 0.5);  // -25 + 25
    Moab{4.0}.evaluate(tree, {usage}, standings);            // the children's discrepancies rule
    CHECK(standings.rank[at(tree, "g/@b").value] == 3);
}

TEST_CASE("Moab: a node's own targets take the place of its shares") {
    std::vector<NodeSpec> lines = specs({{"@a", 1}, {"@b", 1}});
    lines[0].terms = {FairShareTarget{TargetKind::floor, 80}, FairShareTarget{TargetKind::ceiling, 95}};
    const ShareTree tree = std::get<ShareTree>(build_share_tree(lines));
    Standings standings;
    const auto factor_at = [&](CoreMicros used) {
        Moab{}.evaluate(tree, {std::vector<CoreMicros>{100, used, 100 - used}}, standings);
        return standings.factor[1];
    };
    CHECK(factor_at(90) == 0.5);  // above the floor, below the ceiling: neither raised nor lowered
    CHECK(standings.factor[2] == Approx(0.7));
    CHECK(factor_at(60) == Approx(0.6));
    CHECK(factor_at(100) == Approx(0.475));
}

TEST_CASE("Moab: zero shares are a target of nothing") {
    const ShareTree tree = tree_of({{"@a", 0}, {"@b", 1}});
    Standings standings;
    Moab{.is_ratio = true}.evaluate(tree, {std::vector<CoreMicros>{2, 1, 1}}, standings);
    CHECK(standings.factor[1] == 0.0);
    Moab{}.evaluate(tree, {std::vector<CoreMicros>{0, 0, 0}}, standings);
    CHECK(standings.factor[1] == 0.5);
    CHECK(standings.factor[2] == 1.0);
}
