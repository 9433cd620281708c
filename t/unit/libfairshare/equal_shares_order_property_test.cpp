// SPDX-License-Identifier: LGPL-3.0-only
#include "libfairshare/algorithms/equal_shares_order.hpp"

#include <catch2/catch.hpp>

#include "libfairshare/algorithms/fair_tree.hpp"
#include "libfairshare/tree/share_tree_builder.hpp"
#include "libfairshare/usage/usage_ledger.hpp"
#include "t/unit/draws.hpp"

using namespace weir;

namespace {

ShareTreePtr open_tree() {
    NodeSpec account;
    account.name = "log";
    NodeSpec rule;
    rule.name = "log/@*";
    return std::make_shared<ShareTree>(std::get<ShareTree>(build_share_tree({account, rule})));
}

/// Members come, start and stop using cores; between two looks anything may have happened.
struct EqualMembers {
    UsageLedger ledger{open_tree(), std::chrono::hours(1)};
    EqualSharesOrder order;
    std::vector<NodeId> leaves;
    std::vector<std::int64_t> running;
    std::vector<bool> is_moving;
    std::vector<double> factors;
    Instant now{std::chrono::hours(500'000)};

    void add() {
        const ShareTreePtr tree = ledger.tree_ptr();
        auto grown = tree->with_member(*tree->account("log"), "u" + std::to_string(leaves.size()));
        ledger.extend(std::make_shared<ShareTree>(std::move(grown->first)));
        leaves.push_back(grown->second);
        running.push_back(0);
        is_moving.push_back(false);
        factors.push_back(0);
        order.add();
    }
    void run(std::size_t who, std::int64_t cores) {
        if (running[who] + cores >= 0) {
            ledger.start(leaves[who], cores, now);
            running[who] += cores;
            is_moving[who] = true;
        }
    }
    void update() {
        std::vector<EqualSharesOrder::Member> moving, changed;
        for (std::size_t i = 0; i < leaves.size(); i++) {
            if (is_moving[i]) {
                moving.push_back(static_cast<std::uint32_t>(i));
                is_moving[i] = running[i] > 0;
            }
        }
        const auto at = ledger.at(now);
        order.update(
            moving, [&](auto member) { return at.usage(leaves[member]); }, changed);
        for (const auto member : changed) {
            factors[member] = order.factor(member);
        }
    }
};

}  // namespace

// Kills: members taken from the first to the last; factors left as they were when somebody joins; `usage < own` as
// `<=`.
TEST_CASE("equal shares: the order kept is Fair Tree's, ties included, after whatever happened") {
    draw::property("after each update", [] {
        EqualMembers world;
        world.add();
        for (int step = draw::in_range(1, 100); step > 0; step--) {
            for (int events = draw::in_range(0, 6); events > 0; events--) {
                const auto who = draw::in_range<std::size_t>(0, world.leaves.size());
                if (draw::in_range(0, 6) == 0) {
                    world.add();
                } else {  // half of them idle: who moves must pass who does not
                    world.run(who, draw::element(0, 0, 0, 1, 2, 5) - world.running[who]);
                }
            }
            world.now += std::chrono::seconds(60 * draw::in_range(0, 3));  // equal times and rates: ties
            world.update();
            std::vector<CoreMicros> usage = world.ledger.snapshot(world.now).usage;
            Standings standings;
            FairTree{}.evaluate(world.ledger.tree(), Measures{usage}, standings);
            for (std::size_t i = 0; i < world.leaves.size(); i++) {
                RC_ASSERT(world.factors[i] == standings.factor[world.leaves[i].value]);
            }
        }
    });
}

// Kills: those tied with one who stopped falling left out of what changed.
TEST_CASE("equal shares: who is caught up with shares his rank, and is told") {
    EqualSharesOrder order;
    std::vector<CoreMicros> usage{10, 20, 30};
    for (std::size_t i = 0; i < usage.size(); i++) {
        order.add();
    }
    const auto used = [&](EqualSharesOrder::Member member) { return usage[member]; };
    std::vector<EqualSharesOrder::Member> changed;
    order.update(std::vector<EqualSharesOrder::Member>{0, 1, 2}, used, changed);
    CHECK(order.rank(1) == 2);
    usage[0] = 20;
    changed.clear();
    order.update(std::vector<EqualSharesOrder::Member>{0}, used, changed);
    CHECK(order.rank(0) == 3);
    CHECK(order.rank(1) == 3);
    CHECK(std::find(changed.begin(), changed.end(), 1U) != changed.end());
    CHECK(order.rank(2) == 1);
}

// Kills: a member that decayed to nothing taken for one that never used anything.
TEST_CASE("equal shares: who used something long ago stays behind who never did") {
    EqualMembers world;
    world.add();
    world.add();
    world.run(0, 1);
    world.now += std::chrono::seconds(1);
    world.run(0, -1);
    world.update();
    world.now += std::chrono::hours(1000);
    world.run(1, 0);
    world.add();
    world.update();
    CHECK(world.ledger.usage(world.leaves[0], world.now) == 0);
    CHECK(world.order.rank(0) == 1);
    CHECK(world.order.rank(1) == 3);
    CHECK(world.order.rank(2) == 3);
}
