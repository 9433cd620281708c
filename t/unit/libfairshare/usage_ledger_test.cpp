// SPDX-License-Identifier: LGPL-3.0-only
#include "libfairshare/usage/usage_ledger.hpp"

#include <cmath>

#include "t/unit/libfairshare/support.hpp"

using namespace weir;
using namespace weir::testing;

namespace {

ShareTreePtr small() {
    return tree_ptr_of({{"a", 1}, {"b", 1}, {"a/@u", 1}, {"a/@v", 1}, {"b/@u", 1}});
}

CoreMicros core_seconds_exact(std::int64_t value) {
    return static_cast<CoreMicros>(value) * 1000000;
}

}  // namespace

TEST_CASE("ledger: a running job counts at once and all along the path") {
    const auto tree = small();
    UsageLedger ledger{tree, Duration{0}};
    ledger.start(at(*tree, "a/@u"), 4, second(0));
    CHECK(ledger.rate(root_node) == 4);
    for (const char* path : {"a/@u", "a", ""}) {
        CHECK(ledger.usage(at(*tree, path), second(10)) == core_seconds_exact(40));
        CHECK(ledger.charged(at(*tree, path), second(10)) == 40000000);
    }
    CHECK(ledger.usage(at(*tree, "b"), second(10)) == 0);
    ledger.end(at(*tree, "a/@u"), 4, second(20));
    CHECK(ledger.charged(root_node, second(1000)) == 80000000);
    CHECK(ledger.rate(root_node) == 0);
}

TEST_CASE("ledger: a charge halves with every half-life") {
    const auto tree = small();
    UsageLedger ledger{tree, week};
    ledger.charge(at(*tree, "a/@u"), 1, second(-1), second(0));
    const double now = core_seconds(ledger.usage(root_node, second(0)));
    CHECK(now == Approx(1.0).epsilon(1e-6));
    CHECK(core_seconds(ledger.usage(root_node, second(0) + week)) == Approx(0.5).epsilon(1e-6));
    CHECK(core_seconds(ledger.usage(root_node, second(0) + 4 * week)) == Approx(0.0625).epsilon(2e-5));
    CHECK(ledger.charged(root_node, second(0) + 4 * week) == 1000000);
}

TEST_CASE("ledger: a job that never ends reaches rate times half-life over ln 2") {
    const auto tree = small();
    UsageLedger ledger{tree, std::chrono::hours{1}};
    ledger.start(at(*tree, "a/@u"), 10, second(0));
    CHECK(core_seconds(ledger.usage(root_node, second(0) + 100 * week)) ==
          Approx(10 * 3600 / std::log(2.0)).epsilon(1e-12));
}

TEST_CASE("ledger: a job of no length leaves nothing at all") {
    const auto tree = small();
    UsageLedger ledger{tree, week};
    const LedgerState before = ledger.save();
    ledger.start(at(*tree, "a/@u"), 7, second(3.25));
    ledger.end(at(*tree, "a/@u"), 7, second(3.25));
    CHECK(ledger.save().payers == before.payers);
}

TEST_CASE("ledger: owners without association stay outside the tree") {
    const auto tree = small();
    UsageLedger ledger{tree, week};
    ledger.charge(unassociated, 2, second(0), second(5));
    CHECK(ledger.usage(root_node, second(5)) == 0);
    CHECK(ledger.charged(unassociated, second(5)) == 10000000);
    CHECK(ledger.snapshot(second(5)).unassociated == ledger.usage(unassociated, second(5)));
}

TEST_CASE("ledger: idle time decays, is reset, saved and restored as any use is, but in no tree and nobody's") {
    const auto tree = small();
    UsageLedger ledger{tree, std::chrono::hours{1}};
    const NodeId user = at(*tree, "a/@u");
    const auto both = [&](auto what) {
        what(user);
        what(idle);
    };
    const auto is_same = [&](double t) {
        CHECK(ledger.usage(idle, second(t)) == ledger.usage(user, second(t)));
        CHECK(ledger.charged(idle, second(t)) == ledger.charged(user, second(t)));
        CHECK(ledger.snapshot(second(t)).idle == ledger.snapshot(second(t)).usage[user.value]);
        CHECK(ledger.rate(idle) == ledger.rate(user));
    };
    both([&](NodeId payer) { ledger.charge(payer, 3, second(0), second(1000)); });
    both([&](NodeId payer) { ledger.start(payer, 2, second(500)); });
    is_same(2000);
    CHECK(ledger.usage(root_node, second(2000)) == ledger.usage(user, second(2000)));
    CHECK(ledger.usage(unassociated, second(2000)) == 0);
    both([&](NodeId payer) { ledger.start(payer, 1, second(100000)); });  // frames later
    is_same(100100);
    ledger.set_half_life(week, second(100200));
    is_same(100300);
    ledger.reset(second(100400));
    is_same(100500);
    const auto restored = UsageLedger::restore(tree, ledger.save());
    REQUIRE(restored);
    CHECK(restored->save() == ledger.save());
    ledger = *restored;
    is_same(100600);
    ledger.rebind(tree_ptr_of({{"b", 1}, {"b/@w", 1}}), second(100700));
    CHECK(ledger.charged(idle, second(100800)) == ledger.charged(unassociated, second(100800)));
    CHECK(ledger.rate(idle) == 3);
}

TEST_CASE("ledger: the exact total holds ten million nodes for ten years") {
    const auto tree = small();
    UsageLedger ledger{tree, week};
    const std::int64_t cores = std::int64_t{10000000} * 256;
    const Instant from = second(0);
    const Instant to = from + 521 * week;
    ledger.charge(at(*tree, "a/@u"), cores, from, to);
    CHECK(ledger.charged(root_node, to) == SignedCoreMicros{806658048} * 1000000000000000);
    CHECK(core_seconds(ledger.usage(root_node, to)) == Approx(2.56e9 * 604800 / std::log(2.0)).epsilon(1e-12));
}

TEST_CASE("ledger: an event costs the path and no more") {
    const auto tree = small();
    UsageLedger ledger{tree, week};
    ledger.start(at(*tree, "a/@u"), 1, second(0));
    CHECK(ledger.touches() == 3);
}

TEST_CASE("ledger: a snapshot's account is the sum of its children to the digit") {
    const auto tree = small();
    UsageLedger ledger{tree, week};
    ledger.charge(at(*tree, "a/@u"), 1, second(0), second(0.3333333));
    ledger.charge(at(*tree, "a/@v"), 1, second(0), second(0.3333334));
    const UsageSnapshot snapshot = ledger.snapshot(second(123456.789));
    const auto of = [&](const char* path) { return snapshot.usage[at(*tree, path).value]; };
    CHECK(of("a") == of("a/@u") + of("a/@v"));
    CHECK(of("") == of("a") + of("b"));
    CHECK(of("a/@u") == ledger.usage(at(*tree, "a/@u"), second(123456.789)));
}

TEST_CASE("ledger: usage follows moved nodes into a new tree") {
    const auto from = tree_ptr_of({{"a", 1}, {"b", 1}, {"a/l", 1}, {"a/l/@u", 1}, {"a/l/@v", 1}});
    const auto to = tree_ptr_of({{"b", 1}, {"a", 1}, {"b/l", 1}, {"b/l/@u", 1}, {"b/l/@v", 1}});
    UsageLedger ledger{from, week};
    ledger.start(at(*from, "a/l/@v"), 5, second(0));
    ledger.charge(at(*from, "a/l/@u"), 3, second(0), second(10));
    const CoreMicros before = ledger.usage(root_node, second(20));
    const auto places = ledger.rebind(to, second(20));
    CHECK(places[at(*from, "a/l/@v").value] == at(*to, "b/l/@v"));
    CHECK(ledger.usage(at(*to, "b/l"), second(20)) == before);
    CHECK(ledger.usage(at(*to, "a"), second(20)) == 0);
    ledger.end(places[at(*from, "a/l/@v").value], 5, second(30));
    CHECK(ledger.charged(root_node, second(30)) == 180000000);
}

TEST_CASE("ledger: a removed user's usage is unassociated, and returns with the user") {
    const auto with = small();
    const auto without = tree_ptr_of({{"a", 1}, {"b", 1}, {"a/@v", 1}});
    UsageLedger ledger{with, Duration{0}};
    const NodeId leaf = at(*with, "a/@u");
    ledger.start(leaf, 2, second(0));
    const auto places = ledger.rebind(without, second(10));
    REQUIRE(places[leaf.value] == unassociated);
    CHECK(ledger.charged(root_node, second(10)) == 0);
    CHECK(ledger.charged(unassociated, second(15)) == 30000000);
    ledger.end(unassociated, 2, second(20));
    const LedgerState saved = ledger.save();
    const auto back = UsageLedger::restore(without, saved);
    REQUIRE(back);
    CHECK(back->save() == saved);
    ledger.rebind(with, second(30));
    CHECK(ledger.charged(leaf, second(40)) == 20000000);          // what ran while in the tree
    CHECK(ledger.charged(unassociated, second(40)) == 20000000);  // what ran on after
}

TEST_CASE("ledger: a new member joins without a rebinding") {
    const auto tree = tree_ptr_of({{"a", 1}, {"a/@u", 1}, {"a/@*", 1}});
    UsageLedger ledger{tree, week};
    ledger.start(at(*tree, "a/@u"), 1, second(0));
    auto made = tree->with_member(at(*tree, "a"), "w");
    REQUIRE(made);
    ledger.extend(std::make_shared<const ShareTree>(made->first));
    ledger.start(made->second, 2, second(0));
    CHECK(ledger.rate(at(*tree, "a")) == 3);
    CHECK(ledger.rate(made->second) == 2);
}

TEST_CASE("ledger: a new half-life leaves the usage of the moment and governs from then on") {
    const auto tree = small();
    UsageLedger ledger{tree, week};
    const NodeId leaf = at(*tree, "a/@u");
    ledger.charge(leaf, 1000, second(0), second(1000));
    ledger.start(at(*tree, "a/@v"), 5, second(500));
    const CoreMicros before = ledger.usage(leaf, second(2000));
    const CoreMicros running = ledger.usage(at(*tree, "a/@v"), second(2000));
    ledger.set_half_life(std::chrono::hours{1}, second(2000));
    CHECK(ledger.usage(leaf, second(2000)) == before);
    CHECK(ledger.usage(at(*tree, "a/@v"), second(2000)) == running);
    CHECK(relative_error(core_seconds(ledger.usage(leaf, second(5600))), core_seconds(before) / 2) < 1e-9);
    ledger.set_half_life(Duration{0}, second(5600));
    CHECK(ledger.usage(leaf, second(99999)) == ledger.usage(leaf, second(5600)));
    CHECK(ledger.charged(leaf, second(5600)) == 1000000000000);
    CHECK(ledger.rate(root_node) == 5);
}

TEST_CASE("ledger: a state that cannot be is refused with its reason") {
    const auto tree = small();
    LedgerState state{Duration{5}, 0, {}};
    CHECK(UsageLedger::restore(tree, state).error().code == std::errc::invalid_argument);
    state.half_life = week;
    state.payers = {{"a/@u", {0, 1}, {0, 1}, 0}, {"a/@u", {0, 1}, {0, 1}, 0}};
    CHECK(UsageLedger::restore(tree, state).error().message == "usage ledger: payer \"a/@u\" occurs twice");
    state.payers = {{"a/@u", {std::int64_t{1} << 62, 0}, {0, 1}, 0}};
    CHECK(UsageLedger::restore(tree, state).error().code == std::errc::result_out_of_range);
    state.payers = {{"a/@u", {0, 1}, {0, 1}, 0}};
    state.frame = std::int64_t{1} << 60;
    CHECK(UsageLedger::restore(tree, state).error().code == std::errc::result_out_of_range);
}
