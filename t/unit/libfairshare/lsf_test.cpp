// SPDX-License-Identifier: LGPL-3.0-only
#include "libfairshare/algorithms/lsf.hpp"

#include <catch2/catch.hpp>

#include "libfairshare/algorithms/algorithm.hpp"
#include "libfairshare/algorithms/lsf_dispatch.hpp"
#include "t/unit/libfairshare/support.hpp"

using namespace weir;
using namespace weir::testing;

namespace {

DynamicUse slots(double count) {
    DynamicUse use;
    use.job_slots = count;
    return use;
}

/// Use of users by path, summed into accounts.
std::vector<DynamicUse> slots_of(const ShareTree& tree, const std::vector<std::pair<std::string, double>>& users) {
    std::vector<DynamicUse> made(tree.size());
    for (const auto& [path, count] : users) {
        for (NodeId node = at(tree, path);; node = tree.parent(node)) {
            made[node.value].job_slots += count;
            if (node == root_node) {
                break;
            }
        }
    }
    return made;
}

}  // namespace

TEST_CASE("LSF: every term of the divisor") {
    const DynamicUse use{2, 3, 5, 10, 7, 4, 11};
    const LsfFactors factors{0.5, 0.25, 0.125, 2, 1, 0.1, 0.01};
    const double expected = 2 * 0.5 + (5 + 3) * 0.25 + (10 - 3) * 0.125 + 5 * 2 + 4 * 1 + 11 * 0.1 + 7 * 0.01 + 6;
    CHECK(lsf_divisor(use, factors, {3, 6}) == Approx(expected).epsilon(1e-12));
    CHECK(lsf_priority(100, use, factors, {3, 6}) == Approx(100 / expected).epsilon(1e-12));
}

TEST_CASE("LSF: a job without a limit takes nothing back for its run time") {
    DynamicUse use;
    use.run_time_h = 8;
    const LsfFactors factors{0, 0, 1, 3, 0, 0, 0};
    CHECK(lsf_divisor(use, factors) == 3);
    use.committed_run_time_h = 2;  // overrun
    CHECK(lsf_divisor(use, factors) == 3);
}

TEST_CASE("LSF: all factors zero leave the order to the shares") {
    const LsfFactors none{0, 0, 0, 0, 0, 0, 0};
    const ShareTree tree = tree_of({{"@a", 1}, {"@b", 5}, {"@c", 3}});
    Standings standings;
    Lsf{none}.evaluate(tree, {{}, slots_of(tree, {{"@b", 1000}})}, standings);
    CHECK(standings.rank == std::vector<std::uint32_t>{0, 1, 3, 2});
    CHECK(std::isfinite(lsf_priority(1e9, slots(5), none)));
}

TEST_CASE("LSF: levels are never mixed") {
    const ShareTree tree = tree_of({{"A", 70}, {"A/@a1", 1}, {"A/@a2", 3}, {"B", 30}, {"B/@b1", 1}, {"B/@b2", 1}});
    const auto use = slots_of(tree, {{"A/@a1", 10}, {"A/@a2", 4}, {"B/@b1", 2}, {"B/@b2", 3}});
    Standings standings;
    Lsf{}.evaluate(tree, {{}, use}, standings);
    const auto rank = [&](const char* path) { return standings.rank[at(tree, path).value]; };
    CHECK(rank("B/@b1") == 4);
    CHECK(rank("B/@b2") == 3);
    CHECK(rank("A/@a2") == 2);  // although its own priority is the highest of all users'
    CHECK(rank("A/@a1") == 1);
    CHECK(standings.factor[at(tree, "B/@b1").value] == 1.0);
    CHECK(Lsf{}.node_standing(tree, {{}, use}, at(tree, "A")).level_fs == Approx(70.0 / 45));
}

TEST_CASE("LSF: by its name, and with nothing measured, shares alone decide") {
    const ShareTree tree = tree_of({{"@a", 2}, {"@b", 3}, {"@c", 3}});
    const Standings standings = evaluate(*algorithm_named("dynamic-user"), tree, std::vector<CoreMicros>(4, 0));
    CHECK(standings.rank == std::vector<std::uint32_t>{0, 1, 3, 3});
}

TEST_CASE("LSF dispatch: each start lowers the priorities on its path") {
    const ShareTree tree = tree_of({{"g", 1}, {"g/@a", 1}, {"g/@b", 1}, {"@c", 1}});
    const LsfFactors factors;
    LsfDispatch dispatch{tree, factors, {}};
    std::uint64_t order = 0;
    for (const char* path : {"g/@a", "g/@a", "g/@b", "g/@b", "@c", "@c", "@c", "@c"}) {
        dispatch.submit({at(tree, path), order++});
    }
    std::string turns;
    while (const auto job = dispatch.next()) {
        turns += tree.name(job->leaf);
    }
    CHECK(turns == "acbcacbc");
    CHECK(dispatch.priority(at(tree, "g")) == Approx(1.0 / 15));
    CHECK_FALSE(dispatch.next());
}

TEST_CASE("LSF dispatch: who waits is chosen, not who stands best") {
    const ShareTree tree = tree_of({{"g", 9}, {"g/@a", 1}, {"@c", 1}});
    const LsfFactors factors;
    LsfDispatch dispatch{tree, factors, {}};
    dispatch.submit({at(tree, "@c"), 7});
    CHECK(dispatch.next()->order == 7);
    dispatch.submit({at(tree, "g/@a"), 9});
    dispatch.submit({at(tree, "g/@a"), 8});
    CHECK(dispatch.next()->order == 8);  // a user's own jobs: first come, first served
}

TEST_CASE("LSF dispatch: wide and committed jobs count for what they hold") {
    const ShareTree tree = tree_of({{"@a", 1}, {"@b", 1}});
    LsfFactors factors;
    factors.committed_run_time = 0.5;
    LsfDispatch dispatch{tree, factors, {}};
    dispatch.submit({NodeId{1}, 0, 4, 10});
    dispatch.next();
    CHECK(dispatch.priority(NodeId{1}) == Approx(1.0 / (3 + 12 + 5)));
}
