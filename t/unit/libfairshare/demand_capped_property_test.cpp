// SPDX-License-Identifier: LGPL-3.0-only
// What water-filling promises, on random trees, and that it is Fair Tree where demand caps nobody.
#include <catch2/catch.hpp>

#include "libfairshare/algorithms/algorithm.hpp"
#include "libfairshare/algorithms/deserved_shares.hpp"
#include "libfairshare/algorithms/hierarchical_drf.hpp"
#include "t/unit/draws.hpp"
#include "t/unit/libfairshare/generators.hpp"

using namespace weir;
using namespace weir::testing;

namespace {

struct Wanted {
    ShareTree tree;
    std::vector<std::uint64_t> demand;
    std::uint64_t capacity;
};

Wanted random_wanted() {
    Wanted made{tree_of_random(random_lines()), {}, static_cast<std::uint64_t>(draw::in_range(1, 60))};
    made.demand.assign(made.tree.size(), 0);
    for (std::uint32_t i = 1; i < made.tree.size(); ++i) {
        made.demand[i] = !made.tree.is_association(NodeId{i}) ? 0 : static_cast<std::uint64_t>(draw::in_range(0, 12));
    }
    return made;
}

}  // namespace

// Kills: a part rounded up (more than there is), a remainder lost beyond a unit a sibling, demand left unmet while
// something is left over, a node without shares that takes part.
TEST_CASE("deserved shares: all that is there and wanted is given out, no more") {
    draw::property("conservation", [] {
        const Wanted made = random_wanted();
        const DeservedShares deserved = deserved_shares(made.tree, made.demand, made.capacity);
        for (std::uint32_t i = 0; i < made.tree.size(); ++i) {
            std::uint64_t given = 0;
            std::uint64_t units = 0;
            for (NodeId child : made.tree.children(NodeId{i})) {
                given += deserved.amount[child.value];
                ++units;
            }
            if (!made.tree.is_association(NodeId{i})) {
                RC_ASSERT(given <= deserved.amount[i]);
                RC_ASSERT(given + units >= deserved.amount[i]);
            } else {
                RC_ASSERT(deserved.amount[i] <= made.demand[i] << deserved.fraction_bits);
            }
        }
    });
}

// Kills: stopping at the first sibling that is not filled in listed order; dividing by the sum of all shares instead of
// those still open; filling whoever wants least, whatever the shares.
TEST_CASE("deserved shares: who gets less than he wants has as much a share as any sibling") {
    draw::property("max-min", [] {
        const Wanted made = random_wanted();
        const DeservedShares deserved = deserved_shares(made.tree, made.demand, made.capacity);
        const auto each_a_share = [&](NodeId id) {
            return static_cast<double>(deserved.amount[id.value]) / made.tree.shares(id);
        };
        for (std::uint32_t i = 1; i < made.tree.size(); ++i) {
            const NodeId id{i};
            if (!made.tree.is_association(id) || made.tree.shares(id) == 0 ||
                deserved.amount[i] == made.demand[i] << deserved.fraction_bits) {
                continue;
            }
            for (NodeId sibling : made.tree.children(made.tree.parent(id))) {
                if (made.tree.shares(sibling) != 0) {
                    RC_ASSERT(each_a_share(sibling) <= each_a_share(id) + 1);
                }
            }
        }
    });
}

// Kills: deserved amounts taken where nobody is capped but rounding parts equal siblings (equal amounts a share lost).
TEST_CASE("demand capped: with equal shares and endless demand it ranks as Fair Tree") {
    draw::property("uncapped", [] {
        auto lines = random_lines();
        for (RandomLine& line : lines) {
            line.shares = 1;
        }
        const ShareTree tree = tree_of_random(lines);
        const auto usage = usage_of(tree, lines);
        std::vector<std::uint64_t> demand(tree.size(), 1000);
        const Measures measures{.usage = usage, .demand = demand, .capacity = 10};
        for (std::uint32_t i = 1; i < tree.size(); ++i) {
            if (!tree.is_association(NodeId{i}) && tree.children(NodeId{i}).empty()) {
                return;  // an account without users wants nothing
            }
        }
        RC_ASSERT(evaluate(DemandCapped{}, tree, measures).rank == evaluate(FairTree{}, tree, usage).rank);
    });
}

// Kills: a task given while a resource is used up; a leaf left wanting while everything that it needs is free; an
// account taken for blocked as soon as one child is.
TEST_CASE("hierarchical DRF: nothing is given twice, and nobody who could have more goes without") {
    draw::property("feasible and Pareto efficient", [] {
        const ShareTree tree = tree_of_random(random_lines());
        const std::vector<std::uint64_t> capacity{static_cast<std::uint64_t>(draw::in_range(1, 30)),
                                                  static_cast<std::uint64_t>(draw::in_range(1, 30))};
        std::vector<TaskDemand> demand(tree.size());
        for (TaskDemand& one : demand) {
            one = {{static_cast<std::uint64_t>(draw::in_range(0, 3)), static_cast<std::uint64_t>(draw::in_range(1, 3))},
                   static_cast<std::uint64_t>(draw::in_range(0, 6))};
        }
        const auto tasks = hierarchical_drf(tree, demand, capacity);
        std::vector<std::uint64_t> used(capacity.size(), 0);
        for (std::size_t i = 0; i < tasks.size(); ++i) {
            used[0] += tasks[i] * demand[i].each[0];
            used[1] += tasks[i] * demand[i].each[1];
        }
        RC_ASSERT(used[0] <= capacity[0]);
        RC_ASSERT(used[1] <= capacity[1]);
        for (std::uint32_t i = 1; i < tree.size(); ++i) {
            bool may_run = tree.is_association(NodeId{i});
            for (NodeId at{i}; at != root_node; at = tree.parent(at)) {
                may_run = may_run && tree.shares(at) != 0;
            }
            const bool has_all = tasks[i] == demand[i].tasks;
            const bool fits = used[0] + demand[i].each[0] <= capacity[0] && used[1] + demand[i].each[1] <= capacity[1];
            RC_ASSERT((may_run ? has_all || !fits : tasks[i] == 0));
        }
    });
}

// Kills: shares left out of the comparison of siblings.
TEST_CASE("hierarchical DRF: with one resource and users below the root it is water-filling, but for part of a task") {
    draw::property("one resource", [] {
        Lines lines;
        for (int i = draw::in_range(1, 12); i > 0; --i) {
            lines.emplace_back("@u" + std::to_string(i), draw::in_range(0, 4));
        }
        const ShareTree tree = tree_of(lines);
        const auto capacity = static_cast<std::uint64_t>(draw::in_range(1, 60));
        std::vector<std::uint64_t> wanted(tree.size(), 0);
        std::vector<TaskDemand> demand(tree.size());
        for (std::uint32_t i = 1; i < tree.size(); ++i) {
            wanted[i] = static_cast<std::uint64_t>(draw::in_range(0, 12));
            demand[i] = {{1}, wanted[i]};
        }
        const DeservedShares deserved = deserved_shares(tree, wanted, capacity);
        const auto tasks = hierarchical_drf(tree, demand, std::vector<std::uint64_t>{capacity});
        for (std::uint32_t i = 1; i < tree.size(); ++i) {
            const std::uint32_t most = 4;  // shares: how many tasks one step of the level may be worth
            RC_ASSERT(std::abs(deserved.cores(NodeId{i}) - static_cast<double>(tasks[i])) < most);
        }
    });
}
