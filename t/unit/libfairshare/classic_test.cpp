// SPDX-License-Identifier: LGPL-3.0-only
#include "libfairshare/algorithms/algorithm.hpp"

#include "t/unit/libfairshare/support.hpp"

using namespace weir;
using namespace weir::testing;

namespace {

/// The worked example of Slurm's page on classic fair share: accounts A (40 shares; B 30, C 10), D (60; E 25, F 35).
struct Page {
    ShareTree tree = tree_of({{"A", 40},
                              {"D", 60},
                              {"A/B", 30},
                              {"A/C", 10},
                              {"A/B/@user1", 1},
                              {"A/C/@user2", 1},
                              {"A/C/@user3", 1},
                              {"D/E", 25},
                              {"D/F", 35},
                              {"D/E/@user4", 1},
                              {"D/F/@user5", 1}});
    std::vector<CoreMicros> usage = std::vector<CoreMicros>(tree.size(), 0);
    Page() {
        use("A/C/@user2", 20);
        use("D/E/@user4", 25);
    }
    void use(std::string_view path, CoreMicros amount) {
        NodeId id = at(tree, path);
        for (; id != root_node; id = tree.parent(id)) {
            usage[id.value] += amount;
        }
        usage[0] += amount;
    }
    double factor(std::string_view path, double dampening = 1) {
        Standings standings;
        evaluate(Classic{dampening}, tree, usage, standings);
        return standings.factor[at(tree, path).value];
    }
};

}  // namespace

TEST_CASE("classic: half of the scale is usage as entitled, the top no usage") {
    const ShareTree tree = tree_of({{"@a", 1}, {"@b", 3}});
    Standings standings;
    evaluate(Classic{}, tree, std::vector<CoreMicros>{40, 10, 30}, standings);
    CHECK(standings.factor[1] == 0.5);
    CHECK(standings.factor[2] == 0.5);
    CHECK(standings.rank[1] == 2);
    CHECK(standings.rank[2] == 2);
    evaluate(Classic{}, tree, std::vector<CoreMicros>{0, 0, 0}, standings);
    CHECK(standings.factor[1] == 1.0);
}

TEST_CASE("classic: a sibling's usage weighs on an idle user through the account") {
    Page page;
    // U(A) = 20/45; UE(C) = 20/45 + 0 * ...; user3 inherits half of its account's.
    const double account = 20.0 / 45 + (20.0 / 45 - 20.0 / 45) * 0.25;
    CHECK(page.factor("A/C/@user3") == Approx(std::exp2(-(account / 2) / 0.05)).epsilon(1e-12));
    CHECK(page.factor("A/B/@user1") == Approx(std::exp2(-(20.0 / 45 * 0.75) / 0.3)).epsilon(1e-12));
}

TEST_CASE("classic: dampening stretches the scale") {
    Page page;
    CHECK(page.factor("A/B/@user1", 5) == Approx(std::exp2(-(20.0 / 45 * 0.75) / 0.3 / 5)).epsilon(1e-12));
}

TEST_CASE("classic: no shares, factor 0; siblings all without shares too") {
    const ShareTree tree = tree_of({{"@a", 0}, {"@b", 1}, {"c", 0}, {"c/@d", 0}});
    Standings standings;
    evaluate(Classic{}, tree, std::vector<CoreMicros>(tree.size(), 0), standings);
    CHECK(standings.factor[at(tree, "@a").value] == 0.0);
    CHECK(standings.factor[at(tree, "c/@d").value] == 0.0);
    CHECK(standings.rank[at(tree, "@b").value] == 3);
    CHECK(standings.rank[at(tree, "@a").value] == 2);
}

TEST_CASE("classic: a node's standing is of the machine") {
    Page page;
    const NodeStanding c = node_standing(Classic{}, page.tree, page.usage, at(page.tree, "A/C"));
    CHECK(c.norm_shares == Approx(0.1));
    CHECK(c.norm_usage == Approx(20.0 / 45));
    CHECK(c.effective_usage == Approx(20.0 / 45));
}

TEST_CASE("classic: a level that shares its parent's has the parent's part and effective usage") {
    auto lines = specs({{"a", 1}, {"b", 3}, {"a/@u", 1}, {"a/@v", 1}});
    lines[2].shares_parent = true;
    const ShareTree tree = std::get<ShareTree>(build_share_tree(lines));
    std::vector<CoreMicros> usage(tree.size(), 0);
    usage[at(tree, "a/@u").value] = 10;
    usage[at(tree, "a").value] = 10;
    usage[at(tree, "b").value] = 10;
    usage[0] = 20;
    const NodeStanding u = node_standing(Classic{}, tree, usage, at(tree, "a/@u"));
    CHECK(u.norm_shares == 0.25);
    CHECK(u.effective_usage == 0.5);
    CHECK(u.factor == 0.25);
    CHECK(node_standing(Classic{}, tree, usage, at(tree, "a/@v")).norm_shares == 0.25);  // the only shares in there
}

TEST_CASE("classic: depth-oblivious is the local ratio below an account that used what it may") {
    const ShareTree tree = tree_of({{"a", 1}, {"b", 1}, {"a/@u", 1}, {"a/@v", 1}});
    std::vector<CoreMicros> usage(tree.size(), 0);
    usage[at(tree, "a/@u").value] = 10;
    usage[at(tree, "a/@v").value] = 30;
    usage[at(tree, "a").value] = 40;
    usage[at(tree, "b").value] = 40;
    usage[0] = 80;
    const NodeStanding u = node_standing(Classic{.depth_oblivious = true}, tree, usage, at(tree, "a/@u"));
    CHECK(u.effective_usage == Approx(0.125));  // half of what it may use of a's
    CHECK(node_standing(Classic{}, tree, usage, at(tree, "a/@u")).effective_usage == Approx(0.125 + 0.375 / 2));
}
