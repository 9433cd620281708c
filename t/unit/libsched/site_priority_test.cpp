// SPDX-License-Identifier: LGPL-3.0-only
// Priorities as other sites' programs sum them: load_threshold and component_sum.
#include <catch2/catch.hpp>

#include "libsched/priority/aps.hpp"
#include "libsched/priority/component_sum.hpp"
#include "libsched/priority/load_threshold.hpp"

using namespace weir;
using namespace std::chrono_literals;

TEST_CASE("load threshold: the paper's numbers") {
    const LoadThreshold rule;
    CHECK(rule.standing(10, rule.gained(120s, 1.25)).priority == Approx(12.5));
    CHECK(rule.standing(15, rule.gained(100s, 1.25)).priority == Approx(17.083).epsilon(1e-4));
    CHECK(rule.standing(8, rule.gained(238s, 1.25)).priority == Approx(12.958).epsilon(1e-4));
}

TEST_CASE("load threshold: a rising load never takes back what was gained") {
    const LoadThreshold rule;
    const double before = rule.standing(0, rule.gained(10min, 2)).priority;
    const double after = rule.standing(0, rule.gained(10min, 2) + rule.gained(1min, 0)).priority;
    CHECK(after == before);
}

TEST_CASE("load threshold: with a least score every job comes to the threshold on a full machine") {
    LoadThreshold rule;
    CHECK_FALSE(rule.standing(0, rule.gained(1000h, 0)).reserves);
    rule.score_min = 0.1;
    CHECK(rule.standing(0, rule.gained(1000h, 0)).reserves);
}

TEST_CASE("load threshold: jobs at the threshold keep an order") {
    const LoadThreshold rule;
    const auto longer = rule.standing(0, rule.gained(3h, 1));
    const auto shorter = rule.standing(0, rule.gained(2h, 1));
    CHECK(longer.priority == shorter.priority);
    CHECK(longer.raw > shorter.raw);
    CHECK_FALSE(rule.standing(55, 0).reserves);  // at it is not above it
}

TEST_CASE("load threshold: the best of the candidates counts, the first of equals") {
    const ResourceWeights weights{6, 4, 1, 256};
    const std::vector<NodeLoad> nodes{{0.5, 1.8, 0.5, 256}, {0.7, 2.6, 0.6, 512}, {0.4, 1.2, 0.3, 512}};
    CHECK(best_node(nodes, weights)->node == 2);
    CHECK(best_node(nodes, weights)->score == Approx(0.992));
    CHECK(best_node(std::vector<NodeLoad>{nodes[0], nodes[0]}, weights)->node == 0);
    CHECK_FALSE(best_node({}, weights));
    CHECK(resource_score({1.5, 2, -1, 256}, weights).score == Approx(0.4));  // loads kept to [0, 1]
    CHECK_FALSE(LoadThreshold{}.average_score(0, 5, 0s));
}

TEST_CASE("component sum: caps act before the weights and upwards only") {
    const Component capped{10, 50, {{2, 40, 20}, {1, 30, 0}}};
    CHECK(contribution(capped) == 500);
    const Component below{1, 5, {{1, -70, 3}}};
    CHECK(contribution(below) == -70);
    CHECK(component_sum(std::vector{capped, below}) == 430);
}

TEST_CASE("component sum: Maui's limits and the administrator's word") {
    CHECK(maui_priority(-5, false) == 1);
    CHECK(maui_priority(-5, true) == -5);
    CHECK(maui_priority(5e9, false) == 1e9);
    CHECK(maui_priority(100, false, 7) == 1000000007.0);
    CHECK(maui_priority(100, false, 2000000050.0) == 150);
    CHECK(maui_priority(100, false, 1999999950.0) == 50);
}

TEST_CASE("component sum: the expansion factor is never below one, unless the program's is asked for") {
    CHECK(expansion_factor(0s, 1s) == 1);
    CHECK(expansion_factor(4h, 1h) == 5);
    CHECK(expansion_factor(3600s, 1s, 120s) == 31);
    CHECK(expansion_factor(0s, 60s, 120s, ExpansionRule::program) == 0.5);
}

// Kills: a limit before the weight; a limit of 0 that cuts; a grace period that ends a moment too early; a subfactor
// without its factor's weight, limit or grace.
TEST_CASE("APS: weights, limits after them, grace periods, subfactors within factors, the administrator's value") {
    const auto at = [](ApsPart part) { return static_cast<std::size_t>(part); };
    ApsRule rule;
    rule.parts[at(ApsPart::fs)] = {10, 300, {}};
    rule.parts[at(ApsPart::rsrc)] = {2, 0, 1h};
    rule.parts[at(ApsPart::proc)] = {3, 20, {}};
    rule.parts[at(ApsPart::mem)] = {-1, 0, {}};
    rule.parts[at(ApsPart::qprio)] = {5, 0, 30min};
    std::array<double, aps_parts> values{};
    values[at(ApsPart::fs)] = 20;
    values[at(ApsPart::proc)] = 5;
    values[at(ApsPart::mem)] = 4;
    values[at(ApsPart::qprio)] = 7;
    CHECK(aps_value(rule, values, 0s) == 200);
    CHECK(aps_value(rule, values, 30min) == 200);
    CHECK(aps_value(rule, values, 31min) == 235);
    CHECK(aps_value(rule, values, 61min) == 235 + 2 * (15 - 4));
    CHECK(aps_value(rule, values, 61min, 1000) == 1257);
    values[at(ApsPart::fs)] = 31;
    values[at(ApsPart::proc)] = 9;
    CHECK(aps_value(rule, values, 61min) == 300 + 2 * (20 - 4) + 35);
}
