// SPDX-License-Identifier: LGPL-3.0-only
#include "libfairshare/usage/window.hpp"

#include <catch2/catch.hpp>

#include "t/unit/libfairshare/support.hpp"

using namespace weir;
using namespace weir::testing;

namespace {

constexpr Duration day = std::chrono::hours{24};
constexpr NodeId charged_leaf{1};
const Instant noon = Instant{} + 20000 * day + day / 2;

CoreMicros core_days(std::int64_t count) {
    return static_cast<CoreMicros>(count * day.count());
}

}  // namespace

TEST_CASE("window: the current window is counted as window 0") {
    WindowLedger ledger{2, {day, 2, 0.5}};
    ledger.charge(charged_leaf, 10, noon - day, noon);  // half of it yesterday
    CHECK(ledger.usage(charged_leaf, noon) == core_days(5) + core_days(5) / 2);
}

TEST_CASE("window: what left the oldest window counts nothing") {
    WindowLedger ledger{2, {day, 3, 1.0}};
    ledger.charge(charged_leaf, 1, noon, noon + day / 4);
    CHECK(ledger.usage(charged_leaf, noon + 2 * day) == core_days(1) / 4);
    CHECK(ledger.usage(charged_leaf, noon + 3 * day) == 0);
    ledger.start(NodeId{0}, 1, noon + 30 * day);  // closes all windows
    CHECK(ledger.usage(charged_leaf, noon + 30 * day) == 0);
}

TEST_CASE("window: a running job grows into every window it is in") {
    WindowLedger ledger{2, {day, 3, 0.5}};
    ledger.start(charged_leaf, 4, noon);
    CHECK(ledger.usage(charged_leaf, noon + 2 * day) == core_days(2) + core_days(4) / 2 + core_days(2) / 4);
    ledger.end(charged_leaf, 4, noon + 2 * day);
    CHECK(ledger.usage(charged_leaf, noon + 2 * day) == core_days(2) + core_days(4) / 2 + core_days(2) / 4);
    CHECK(ledger.usage(charged_leaf, noon + 3 * day) == core_days(2) / 2 + core_days(4) / 4);
}

TEST_CASE("window: an event dated in an older window counts there") {
    WindowLedger late{2, {day, 3, 0.5}};
    WindowLedger early{2, {day, 3, 0.5}};
    late.start(NodeId{0}, 1, noon + 2 * day);
    late.charge(charged_leaf, 3, noon, noon + day);
    early.charge(charged_leaf, 3, noon, noon + day);
    CHECK(late.usage(charged_leaf, noon + 2 * day) == early.usage(charged_leaf, noon + 2 * day));
}

TEST_CASE("window: another interval and depth keep what was used") {
    WindowLedger ledger{2, {day, 4, 1.0}};
    ledger.charge(charged_leaf, 7, noon - 3 * day, noon);
    ledger.start(charged_leaf, 2, noon);
    const CoreMicros before = ledger.usage(charged_leaf, noon);
    ledger.set_policy({std::chrono::hours{7}, 20, 1.0}, noon);
    CHECK(ledger.usage(charged_leaf, noon) == before);
    ledger.set_policy({day, 6, 1.0}, noon);
    CHECK(ledger.usage(charged_leaf, noon) == before);
    CHECK(ledger.usage(charged_leaf, noon + day) == before + core_days(2));  // and the running job runs on
}

TEST_CASE("window: another factor weighs the same record") {
    WindowLedger ledger{2, {day, 2, 1.0}};
    ledger.charge(charged_leaf, 2, noon - day, noon);
    ledger.set_policy({day, 2, 0.25}, noon);
    CHECK(ledger.usage(charged_leaf, noon) == core_days(1) + core_days(1) / 4);
}

TEST_CASE("window: with a factor of 0 the current window counts alone") {
    const WindowPolicy policy{day, 7, 0.0};
    REQUIRE(policy.validate().has_value());
    CHECK(policy.span() == day);
    WindowLedger ledger{2, policy};
    ledger.charge(charged_leaf, 10, noon - day, noon);  // half of it yesterday
    CHECK(ledger.usage(charged_leaf, noon) == core_days(5));
    CHECK(ledger.usage(charged_leaf, noon + day) == 0);
    CHECK(WindowLedger::restore(2, ledger.save())->usage(charged_leaf, noon) == core_days(5));
    ledger.set_policy({day, 7, 1.0}, noon);  // what did not count was kept
    CHECK(ledger.usage(charged_leaf, noon) == core_days(10));
}

TEST_CASE("window: policies out of range are refused with what to change") {
    CHECK(WindowPolicy{std::chrono::milliseconds{1}, 7, 1.0}.validate().error().message ==
          "window: the interval must be at least one second");
    CHECK(WindowPolicy{day, 65, 1.0}.validate().error().message == "window: the depth must be from 1 to 64");
    CHECK(WindowPolicy{day, 7, -0.1}.validate().error().message == "window: the factor must be from 0 to 1");
    CHECK(WindowPolicy{day, 7, 1.1}.validate().error().message == "window: the factor must be from 0 to 1");
}

TEST_CASE("window: a saved state that does not fit is refused") {
    WindowLedger ledger{2, {day, 2, 0.5}};
    ledger.start(charged_leaf, 1, noon);
    WindowState state = ledger.save();
    CHECK(WindowLedger::restore(2, state)->usage(charged_leaf, noon + day) == ledger.usage(charged_leaf, noon + day));
    CHECK_FALSE(WindowLedger::restore(1, state));
    state.rows[0].windows.pop_back();
    CHECK_FALSE(WindowLedger::restore(2, state));
    state = ledger.save();
    state.current = std::int64_t{1} << 60;
    CHECK_FALSE(WindowLedger::restore(2, state));
    state = ledger.save();
    state.rows[0].windows[0] = to_wide(__int128{1} << 120);
    CHECK_FALSE(WindowLedger::restore(2, state));
}

TEST_CASE("window: more than what counts is kept, read back and taken away again") {
    WindowLedger ledger{2, {day, 2, 0.5}};
    const SignedCoreMicros huge = SignedCoreMicros{1} << 90;
    ledger.add(charged_leaf, huge, noon);
    CHECK(ledger.usage(charged_leaf, noon) == usage_max);
    auto again = WindowLedger::restore(2, ledger.save());
    REQUIRE(again);
    again->add(charged_leaf, -huge, noon);
    CHECK(again->usage(charged_leaf, noon) == 0);
}

TEST_CASE("window: a leaf's history follows it into another tree") {
    WindowLedger ledger{3, {day, 2, 0.5}};
    ledger.charge(charged_leaf, 2, noon - day, noon);
    ledger.charge(NodeId{2}, 1, noon - day, noon);
    const CoreMicros before = ledger.usage(charged_leaf, noon);
    const CoreMicros gone = ledger.usage(NodeId{2}, noon);
    const std::vector<NodeId> places{root_node, NodeId{3}, unassociated};
    ledger.rebind(places, 4);
    CHECK(ledger.usage(NodeId{3}, noon) == before);
    CHECK(ledger.usage(NodeId{1}, noon) == 0);
    CHECK(ledger.usage(unassociated, noon) == gone);
}
