// SPDX-License-Identifier: LGPL-3.0-only
// A start that crosses the news that the job lost its place.
#include <catch2/catch.hpp>

#include "t/unit/libfairshare/limits_world.hpp"

using namespace weir;
using testing::Ids;
using testing::second;

// Seed 179586043101042 of the world: the scheduler had answered before it was told, and a second later two jobs of a
// user ran who may run one.
// Mutant: libfairshare/limits/admission.cpp: if (!had_place && !admitted_.empty() => if (false && !admitted_.empty()
TEST_CASE("limits: a job that starts without a place takes that of one that has not started") {
    const ShareTreePtr tree = testing::tree_from(
        "\"a\" = {shares = 1, running_jobs_max = 1}\n\"a/@u\" = 1\n\"b\" = {shares = 1, running_jobs_max = "
        "2}\n\"b/@u\" = 1\n");
    const UsageLedger ledger(tree, testing::week);
    const NodeId a = testing::at(*tree, "a/@u");
    const NodeId b = testing::at(*tree, "b/@u");
    Admission gate;
    const auto admit = [&] {
        return gate.admit(*tree, ledger, second(0), [](std::uint64_t) -> std::uint64_t { return 0; });
    };
    gate.wait(*tree, 1, a, {});
    gate.wait(*tree, 9, b, {});
    REQUIRE(admit() == Ids{1, 9});
    gate.park(*tree, 1, a, {});
    gate.wait(*tree, 2, a, {});
    REQUIRE(admit() == Ids{2});
    gate.start(*tree, 1, a, {});  // it crossed
    CHECK(admit().empty());
    CHECK(gate.is_held_back(2));
    CHECK_FALSE(gate.is_held_back(9));
    CHECK(gate.can_settle([](std::uint64_t id) { return id == 2; }));
    SECTION("it has not started: it waits for the other's end") {
        gate.settle(*tree, [](std::uint64_t) { return true; });
        CHECK(admit().empty());
        gate.remove(*tree, 1);
        CHECK(admit() == Ids{2});
    }
    SECTION("one without a place whose limit has room takes nobody's") {
        gate.start(*tree, 8, b, {});
        CHECK(admit().empty());
        CHECK_FALSE(gate.is_held_back(9));
    }
}
