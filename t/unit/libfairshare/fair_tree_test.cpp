// SPDX-License-Identifier: LGPL-3.0-only
#include "libfairshare/algorithms/algorithm.hpp"

#include <algorithm>
#include <map>

#include "libfairshare/algorithms/algorithm.hpp"
#include "t/unit/libfairshare/support.hpp"

using namespace weir;
using namespace weir::testing;

namespace {

struct Line {
    std::string path;
    std::int64_t shares;
    std::uint64_t usage = 0;
};

struct RankedWorld {
    ShareTree tree;
    std::vector<CoreMicros> usage;
    Standings standings;
    std::uint32_t rank(std::string_view path) const { return standings.rank[at(tree, path).value]; }
};

RankedWorld world(const std::vector<Line>& lines, const FairTree& rule = {}) {
    Lines plain;
    for (const Line& line : lines) {
        plain.emplace_back(line.path, line.shares);
    }
    RankedWorld made{tree_of(plain), {}, {}};
    made.usage.assign(made.tree.size(), 0);
    for (const Line& line : lines) {
        NodeId id = at(made.tree, line.path);
        for (; id != root_node; id = made.tree.parent(id)) {
            made.usage[id.value] += line.usage;
        }
        made.usage[0] += line.usage;
    }
    evaluate(rule, made.tree, made.usage, made.standings);
    return made;
}

}  // namespace

TEST_CASE("fair tree: the better served account's users all stand behind") {
    const RankedWorld w =
        world({{"a", 1}, {"b", 1}, {"a/@u", 1, 10}, {"a/@v", 1, 20}, {"b/@x", 1, 40}, {"b/@y", 1, 0}});
    CHECK(w.rank("a/@u") == 4);
    CHECK(w.rank("a/@v") == 3);
    CHECK(w.rank("b/@y") == 2);
    CHECK(w.rank("b/@x") == 1);
    CHECK(w.standings.factor[at(w.tree, "b/@x").value] == 0.25);
    CHECK(w.standings.factor[at(w.tree, "a").value] == 0.0);
}

TEST_CASE("fair tree: equal users share the higher rank, the next skips") {
    const RankedWorld w = world({{"@a", 1, 10}, {"@b", 3, 30}, {"@c", 1, 20}, {"@d", 2, 10}});
    CHECK(w.rank("@d") == 4);
    CHECK(w.rank("@a") == 3);
    CHECK(w.rank("@b") == 3);
    CHECK(w.rank("@c") == 1);
}

TEST_CASE("fair tree: ties that rounding would break are ties") {
    // 15/2832 and 75/14160 as in the reference program, which ranks them apart although it prints the same level.
    const RankedWorld w = world({{"@u1", 15, 2832}, {"@u2", 75, 14160}, {"@u3", 10, 99999999}});
    CHECK(w.rank("@u1") == w.rank("@u2"));
}

TEST_CASE("fair tree: differences beyond a double's reach decide") {
    const std::uint64_t big = std::uint64_t{1} << 62;
    const RankedWorld w = world({{"@u1", 1, big}, {"@u2", 1, big + 1}});
    CHECK(w.rank("@u1") == 2);
    CHECK(w.rank("@u2") == 1);
}

TEST_CASE("fair tree: tied accounts are merged and their children ranked by the level in their own account") {
    // The documented case: levels in a: 5, 5/9; in b: 5/3, 5/7.
    const RankedWorld w = world({{"a", 1},
                                 {"b", 1},
                                 {"c", 1},
                                 {"a/@u1", 1, 10},
                                 {"a/@u2", 1, 90},
                                 {"b/@u3", 1, 30},
                                 {"b/@u4", 1, 70},
                                 {"c/@u5", 1, 200}});
    CHECK(w.rank("a/@u1") == 5);
    CHECK(w.rank("b/@u3") == 4);
    CHECK(w.rank("b/@u4") == 3);
    CHECK(w.rank("a/@u2") == 2);
    CHECK(w.rank("c/@u5") == 1);
}

TEST_CASE("fair tree: an account tied with a user shares its rank with its best, or by option stands behind") {
    const std::vector<Line> lines{{"@r", 1, 10}, {"a", 1}, {"a/@u", 1, 2}, {"a/@v", 1, 8}};
    const RankedWorld slurm = world(lines);
    CHECK(slurm.rank("@r") == 3);
    CHECK(slurm.rank("a/@u") == 3);
    CHECK(slurm.rank("a/@v") == 1);
    const RankedWorld flux = world(lines, FairTree{.users_before_tied_accounts = true});
    CHECK(flux.rank("@r") == 3);
    CHECK(flux.rank("a/@u") == 2);
    CHECK(flux.rank("a/@v") == 1);
}

TEST_CASE("fair tree: no shares stand last, even unused; unused with shares first") {
    const RankedWorld w = world({{"@none", 0, 0}, {"@spent", 1, 1000}, {"@fresh", 1, 0}, {"@none2", 0, 50}});
    CHECK(w.rank("@fresh") == 4);
    CHECK(w.rank("@spent") == 3);
    CHECK(w.rank("@none") == 2);
    CHECK(w.rank("@none2") == 2);
}

TEST_CASE("fair tree: equal shares and no usage give everyone the balanced factor, 1") {
    const RankedWorld w = world({{"@r", 1}, {"a", 1}, {"a/@u", 1}, {"a/b", 1}, {"a/b/@v", 1}, {"c", 1}, {"c/@w", 1}});
    for (const char* path : {"@r", "a/@u", "a/b/@v", "c/@w"}) {
        CHECK(w.standings.factor[at(w.tree, path).value] == 1.0);
    }
}

TEST_CASE("fair tree: wildcard lines and empty accounts take no rank") {
    const RankedWorld w = world({{"a", 1}, {"b", 1}, {"a/@*", 9}, {"a/@u", 1, 5}, {"b/c", 1}});
    CHECK(w.rank("a/@u") == 1);
    CHECK(w.rank("a/@*") == 0);
    CHECK(w.standings.factor[at(w.tree, "a/@u").value] == 1.0);
}

TEST_CASE("fair tree: a node's standing shows what sshare shows") {
    const RankedWorld w = world({{"a", 1}, {"b", 3}, {"a/@u", 1, 30}, {"a/@v", 1, 10}, {"b/@x", 1, 0}});
    const NodeStanding u = node_standing(FairTree{}, w.tree, w.usage, at(w.tree, "a/@u"));
    CHECK(u.norm_shares == 0.5);
    CHECK(u.norm_usage == 0.75);
    CHECK(u.effective_usage == 0.75);
    CHECK(*u.level_fs == Approx(2.0 / 3));
    CHECK_FALSE(node_standing(FairTree{}, w.tree, w.usage, at(w.tree, "b")).level_fs);
}

TEST_CASE("level FS: the comparison is exact to the limits") {
    const std::uint64_t sum = ShareTree::child_shares_max;
    const LevelFs a{ShareTree::shares_max, sum, usage_max, usage_max};
    const LevelFs b{ShareTree::shares_max, sum, usage_max - 1, usage_max};
    CHECK(std::is_lt(compare(a, b)));
    CHECK(std::is_gt(compare(b, a)));
    CHECK(std::is_eq(compare(a, a)));
    const LevelFs half{1, 2, usage_max - 1, usage_max};
    const LevelFs same{0x80000000U, std::uint64_t{1} << 32, usage_max - 1, usage_max};
    CHECK(std::is_eq(compare(half, same)));
}

TEST_CASE("fair tree: a very long list is ranked by the exact comparison, as a short one is") {
    constexpr std::uint32_t users = 5000;
    std::vector<Line> lines;
    for (std::uint64_t i = 0; i < users; ++i) {
        const std::uint64_t shares = i * 7 % 5;
        // Proportional: tied however the doubles round. Next to that: off by less than doubles can tell.
        const std::uint64_t used = i % 3 == 0 ? 1000003 * shares : i % 11 == 0 ? 0 : (i * 2654435761U) % 1000000000000U;
        lines.push_back({"@u" + std::to_string(i), static_cast<std::int64_t>(shares), used + (i % 501 == 0 ? 1 : 0)});
    }
    const RankedWorld w = world(lines);
    std::vector<NodeId> order;
    for (std::uint32_t i = 1; i <= users; ++i) {
        order.push_back(NodeId{i});
    }
    const auto level = [&](NodeId id) {
        return LevelFs{w.tree.shares(id), w.tree.child_shares(root_node), w.usage[id.value], w.usage[0]};
    };
    std::sort(order.begin(), order.end(), [&](NodeId a, NodeId b) { return std::is_gt(compare(level(a), level(b))); });
    std::uint32_t rank = users;
    for (std::uint32_t i = 0; i < users; ++i) {
        if (i > 0 && std::is_neq(compare(level(order[i - 1]), level(order[i])))) {
            rank = users - i;
        }
        REQUIRE(w.standings.rank[order[i].value] == rank);
    }
}
