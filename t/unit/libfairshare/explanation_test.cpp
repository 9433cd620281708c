// SPDX-License-Identifier: LGPL-3.0-only
#include "libfairshare/explain/explanation.hpp"

#include <numeric>

#include "t/unit/libfairshare/support.hpp"

using namespace weir;
using namespace weir::testing;

namespace {

/// bio has used three times its share; lattice and plasma tie, with unequal users; usage in order of the lines.
struct ExplainedWorld {
    ShareTree tree = tree_of({{"bio", 1},
                              {"bio/@ann", 1},
                              {"bio/@bob", 1},
                              {"physics", 3},
                              {"physics/lattice", 1},
                              {"physics/lattice/@carl", 1},
                              {"physics/lattice/@dora", 0},
                              {"physics/plasma", 1},
                              {"physics/plasma/@eve", 2},
                              {"physics/plasma/@fay", 1}});
    std::vector<CoreMicros> usage = std::vector<CoreMicros>(tree.size(), 0);
    Measures measures;
    Standings standings;
    Algorithm algorithm = FairTree{};

    ExplainedWorld() {
        const std::vector<std::pair<const char*, CoreMicros>> used{{"bio/@ann", 600},
                                                                   {"bio/@bob", 150},
                                                                   {"physics/lattice/@carl", 125},
                                                                   {"physics/plasma/@eve", 100},
                                                                   {"physics/plasma/@fay", 25}};
        for (const auto& [path, units] : used) {
            usage[at(tree, path).value] = units;
        }
        for (std::uint32_t i = tree.size() - 1; i > 0; --i) {
            usage[tree.parent(NodeId{i}).value] += usage[i];
        }
        measures.usage = usage;
        standings = evaluate(algorithm, tree, measures);
    }
    Explanation of(std::string_view path) const {
        return explain({algorithm, tree, measures, standings}, at(tree, path));
    }
    Comparison of(std::string_view a, std::string_view b) const {
        return compare({algorithm, tree, measures, standings}, at(tree, a), at(tree, b));
    }
};

}  // namespace

TEST_CASE("explanation: every level has its shares, usage and level value") {
    const Explanation ann = ExplainedWorld{}.of("bio/@ann");
    REQUIRE(ann.levels.size() == 2);
    CHECK(ann.levels[0].path == "bio");
    CHECK(ann.levels[0].shares == 1);
    CHECK(ann.levels[0].level_shares == 4);
    CHECK(ann.levels[0].entitled == 0.25);
    CHECK(ann.levels[0].usage == 750);
    CHECK(ann.levels[0].level_usage == 0.75);
    CHECK(*ann.levels[0].standing.level_fs == Approx(1.0 / 3));
    CHECK(ann.levels[1].path == "bio/@ann");
    CHECK(ann.levels[1].level_usage == 0.8);
    CHECK(ann.rank == 6);
    CHECK(ann.associations == 6);
    CHECK(ann.factor == Approx(1.0 / 6));
}

TEST_CASE("explanation: the level that most who go first part at holds it down") {
    const ExplainedWorld world;
    const Explanation ann = world.of("bio/@ann");
    CHECK(ann.levels[0].ahead == 4);
    CHECK(ann.levels[1].ahead == 1);
    CHECK(ann.reason ==
          "rank 6 of 6: 5 go before it, 4 because \"bio\" has 1 of 4 shares (25 %) and used 75 % of its level's usage");
    CHECK(world.of("physics/plasma/@fay").reason == "rank 1 of 6: no association is ahead of it");
    CHECK(world.of("physics/lattice/@dora").reason.find("\"physics/lattice/@dora\" has no shares") !=
          std::string::npos);
}

TEST_CASE("explanation: of one who goes first the reason follows") {
    ExplainedWorld world;
    world.tree = tree_of({{"a", 1}, {"a/@ann", 1}, {"a/@bob", 1}});
    world.usage = {30, 30, 10, 20};
    world.measures.usage = world.usage;
    world.standings = evaluate(world.algorithm, world.tree, world.measures);
    CHECK(world.of("a/@bob").reason.starts_with("rank 2 of 2: 1 goes before it, because \"a/@bob\" "));
}

TEST_CASE("explanation: those who go first are each counted at one level") {
    const ExplainedWorld world;
    for (std::uint32_t i = 1; i < world.tree.size(); ++i) {
        if (!world.tree.is_association(NodeId{i})) {
            continue;
        }
        const Explanation made = explain({world.algorithm, world.tree, world.measures, world.standings}, NodeId{i});
        const auto all =
            std::accumulate(made.levels.begin(), made.levels.end(), 0U,
                            [](std::uint32_t sum, const ExplainedLevel& level) { return sum + level.ahead; });
        CHECK(made.rank == all + 1);
    }
}

// Kills: the last of the associations below in place of the first; children's children among the children.
TEST_CASE("explanation: an account stands where the first association below it stands") {
    const ExplainedWorld world;
    const auto of = [&](const char* path) {
        return explain_account({world.algorithm, world.tree, world.measures, world.standings}, at(world.tree, path));
    };
    const AccountExplanation physics = of("physics");
    REQUIRE(physics.first);
    CHECK(world.tree.path(*physics.first) == "physics/plasma/@fay");
    CHECK(physics.first_stands->rank == 1);
    CHECK(physics.associations == 4);
    REQUIRE(physics.levels.size() == 1);
    CHECK(physics.levels[0].ahead == 0);
    REQUIRE(physics.below.size() == 2);
    CHECK(physics.below[0].level.path == "physics/lattice");
    CHECK(physics.below[0].rank == rank_for_people(world.standings, at(world.tree, "physics/lattice/@carl")));
    CHECK(physics.below[1].rank == 1u);
    const AccountExplanation bio = of("bio");
    CHECK(world.tree.path(*bio.first) == "bio/@bob");
    CHECK(bio.levels[0].ahead == 4);
    CHECK(bio.below.back().rank == 5u);
}

TEST_CASE("explanation: an account without associations has levels alone") {
    const ShareTree tree = tree_of({{"a", 1}, {"a/@*", 1}, {"b", 1}, {"b/@u", 1}});
    const std::vector<CoreMicros> usage(tree.size(), 0);
    Measures measures;
    measures.usage = usage;
    const Algorithm algorithm = FairTree{};
    const AccountExplanation a =
        explain_account({algorithm, tree, measures, evaluate(algorithm, tree, measures)}, at(tree, "a"));
    CHECK_FALSE(a.first);
    CHECK(a.associations == 0);
    CHECK(a.levels.size() == 1);
    REQUIRE(a.below.size() == 1);
    CHECK_FALSE(a.below[0].rank);
}

TEST_CASE("explanation: two associations are told apart where their paths part") {
    const Comparison told = ExplainedWorld{}.of("bio/@bob", "physics/lattice/@carl");
    CHECK(told.common.empty());
    CHECK(told.level_a->path == "bio");
    CHECK(told.level_b->path == "physics");
    CHECK(std::is_lt(told.order));
    CHECK(told.reason ==
          "they part below the root; \"physics\" has 3 of 4 shares (75 %) and used 25 % of its level's usage (level "
          "value 3), \"bio\" has 1 of 4 shares (25 %) and used 75 % of its level's usage (0.333): "
          "\"physics/lattice/@carl\" goes first");
}

TEST_CASE("explanation: where accounts tie, those below them decide") {
    const Comparison told = ExplainedWorld{}.of("physics/plasma/@fay", "physics/lattice/@carl");
    CHECK(told.common == "physics");
    CHECK(told.level_a->path == "physics/plasma/@fay");
    CHECK(std::is_gt(told.order));
    CHECK(told.reason.find("\"physics/plasma\" and \"physics/lattice\" tie") != std::string::npos);
    CHECK(std::is_eq(ExplainedWorld{}.of("bio/@bob", "bio/@bob").order));
}

TEST_CASE("explanation: a level that has its parent's shares is passed over") {
    std::vector<NodeSpec> lines = specs({{"a", 1}, {"a/in", 0}, {"a/in/@u", 1}, {"a/@v", 3}});
    lines[1].shares_parent = true;
    const ShareTree tree = std::get<ShareTree>(build_share_tree(lines));
    std::vector<CoreMicros> usage(tree.size(), 0);
    usage[at(tree, "a/in/@u").value] = usage[at(tree, "a/in").value] = 10;
    usage[at(tree, "a/@v").value] = 10;
    usage[at(tree, "a").value] = usage[0] = 20;
    const Algorithm algorithm = FairTree{};
    const Standings standings = evaluate(algorithm, tree, Measures{usage});
    const Comparison told =
        compare({algorithm, tree, Measures{usage}, standings}, at(tree, "a/in/@u"), at(tree, "a/@v"));
    CHECK(told.level_a->path == "a/in/@u");
    CHECK(told.level_a->level_shares == 4);
    CHECK(told.level_a->level_usage == 0.5);
    CHECK(std::is_lt(told.order));
}
