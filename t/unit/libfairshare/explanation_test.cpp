// SPDX-License-Identifier: LGPL-3.0-only
#include "libfairshare/explain/explanation.hpp"

#include <algorithm>
#include <numeric>
#include <regex>

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

namespace {

/// A used 40 %, all of it a1's; B used 60 %. All have equal shares. Nobody waits in A but a1.
struct TwoAccounts {
    ShareTree tree = tree_of({{"A", 1}, {"A/@a1", 1}, {"A/@a2", 1}, {"B", 1}, {"B/@b1", 1}});
    std::vector<CoreMicros> usage = std::vector<CoreMicros>(tree.size(), 0);
    std::vector<DynamicUse> dynamic{tree.size()};
    std::vector<std::uint64_t> demand = std::vector<std::uint64_t>(tree.size(), 0);
    Measures measures;

    TwoAccounts() {
        add("A/@a1", 40, 4);
        add("B/@b1", 60, 4);
        measures = Measures{usage, dynamic, demand, 8};
    }
    void add(const char* path, CoreMicros used, std::uint64_t cores) {
        for (NodeId id = at(tree, path);; id = tree.parent(id)) {
            usage[id.value] += used;
            dynamic[id.value].job_slots += static_cast<double>(used);
            demand[id.value] += cores;
            if (id == root_node) {
                break;
            }
        }
    }
};

double number_in(const std::string& text, const char* pattern) {
    std::smatch found;
    INFO(text);
    REQUIRE(std::regex_search(text, found, std::regex(pattern)));
    return found[1] == "infinite" ? INFINITY : std::stod(found[1]);
}

}  // namespace

// Mutant: libfairshare/algorithms/classic.hpp: RanksBy::factor => RanksBy::shares_and_usage
TEST_CASE("explanation: the two values that it names have the order of the ranks, whatever the algorithm") {
    const TwoAccounts made;
    const std::vector<const char*> leaves{"A/@a1", "A/@a2", "B/@b1"};
    for (const AlgorithmEntry& entry : algorithms()) {
        const Standings standings = evaluate(entry.algorithm, made.tree, made.measures);
        const EvaluatedTree evaluated{entry.algorithm, made.tree, made.measures, standings};
        for (const char* a : leaves) {
            for (const char* b : leaves) {
                const NodeId one = at(made.tree, a), other = at(made.tree, b);
                if (standings.rank[one.value] <= standings.rank[other.value]) {
                    continue;
                }
                const std::string told = compare(evaluated, one, other).reason;
                INFO(entry.name << ": " << told);
                CHECK(told.ends_with(": \"" + std::string(a) + "\" goes first"));
                if (told.find("has no demand: ") == std::string::npos) {
                    CHECK(number_in(told, "(?:level value|factor) ([^ ,)]+)") >
                          number_in(told, "[ (]([-0-9.e+]+|infinite)[)]?: "));
                }
            }
        }
        for (const char* leaf : leaves) {
            const Explanation explained = explain(evaluated, at(made.tree, leaf));
            INFO(entry.name << ": " << explained.reason);
            if (explained.rank > 1 && ranks_by(entry.algorithm) == RanksBy::factor) {
                CHECK(number_in(explained.reason, "factor ([^ ,]+)") > number_in(explained.reason, " ([-0-9.e+]+)$"));
            }
            CHECK((explained.reason.find("even less") == std::string::npos ||
                   ranks_by(entry.algorithm) == RanksBy::shares_and_usage));
        }
    }
}

TEST_CASE("explanation: who has no demand is behind for that") {
    const TwoAccounts made;
    const Algorithm algorithm = DemandCapped{};
    const Standings standings = evaluate(algorithm, made.tree, made.measures);
    const std::string told = explain({algorithm, made.tree, made.measures, standings}, at(made.tree, "A/@a2")).reason;
    CHECK(told.find("because \"A/@a2\" has no demand, \"A/@a1\" has the level value 1") != std::string::npos);
}

// Mutant: libfairshare/explain/explanation.cpp: return !may_name || may_name(node); => return true;
TEST_CASE("explanation: who may not be named is told of by neither name nor value, whatever the algorithm") {
    const TwoAccounts made;
    const std::vector<const char*> leaves{"A/@a1", "A/@a2", "B/@b1"};
    std::size_t behind = 0;
    for (const AlgorithmEntry& entry : algorithms()) {
        const Standings standings = evaluate(entry.algorithm, made.tree, made.measures);
        const EvaluatedTree evaluated{entry.algorithm, made.tree, made.measures, standings};
        for (const char* leaf : leaves) {
            const NodeId own = at(made.tree, leaf);
            const std::string named = explain(evaluated, own).reason;
            const std::string told = explain(evaluated, own, [](NodeId) { return false; }).reason;
            INFO(entry.name << ": " << named << "\n" << told);
            for (std::uint32_t i = 1; i < made.tree.size(); ++i) {
                const auto way = made.tree.lineage(own);
                const bool is_own = std::find(way.begin(), way.end(), NodeId{i}) != way.end();
                CHECK((is_own || told.find(made.tree.path(NodeId{i}) + '"') == std::string::npos));
            }
            CHECK(explain(evaluated, own, [](NodeId) { return true; }).reason == named);
            if (named == told) {
                continue;
            }
            ++behind;
            CHECK(std::regex_search(told, std::regex(" has (no demand|a lower (factor|level value), [-0-9.e+]+)$")));
        }
    }
    CHECK(behind >= algorithms().size() / 2);
}
