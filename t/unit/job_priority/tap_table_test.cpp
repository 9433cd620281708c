// SPDX-License-Identifier: LGPL-3.0-only
#include <catch2/catch.hpp>

#include "modules/job-priority/tap/tap_table.hpp"
#include "t/unit/draws.hpp"

using namespace weir;
using namespace weir::priority;

namespace {

constexpr Duration timeout = std::chrono::seconds(60);
Instant second(int s) {
    return Instant{std::chrono::seconds(s)};
}
TapQuestion in_priority(std::uint64_t id, int urgency = 16) {
    return {id, urgency, false, 0};
}
TapQuestion in_sched(std::uint64_t id, std::int64_t priority) {
    return {id, 16, true, priority};
}

}  // namespace

TEST_CASE("tap table: an unknown job in PRIORITY waits until the module gives it a value") {
    TapTable table(timeout);
    CHECK_FALSE(table.on_enter(in_priority(1), second(0)));
    table.set_synced(second(0));
    CHECK_FALSE(table.on_enter(in_priority(2), second(0)));
    CHECK(table.is_waiting(1));
    CHECK(table.set(1, 500) == 500);
    CHECK_FALSE(table.is_waiting(1));
    CHECK(table.on_enter(in_priority(1), second(1)) == 500U);
}

TEST_CASE("tap table: everybody is asked only where values were not pushed one by one") {
    TapTable table(timeout);
    table.set_synced(second(0));
    (void)table.on_enter(in_priority(1), second(0));
    (void)table.on_enter(in_priority(2), second(0));
    CHECK(table.set_for_all(1, 500) == 500U);
    CHECK(table.set_for_all(2, 0) == 0U);
    CHECK_FALSE(table.is_ahead());  // a burst of new jobs: nobody else has a new value
    CHECK_FALSE(table.is_waiting(1));
    CHECK_FALSE(table.set_for_all(1, 600));
    CHECK_FALSE(table.set_for_all(3, 100));
    CHECK(table.is_ahead());
    table.set_reprioritized();
    CHECK_FALSE(table.is_ahead());
    CHECK(table.on_get(in_sched(1, 500), second(1)) == 600);
}

TEST_CASE("tap table: a new job gets the first value of its kind, unless the module is away or its value is known") {
    TapTable table(timeout);
    const auto job = [](std::uint64_t id, int urgency = 16) { return TapQuestion{id, urgency, false, 0, "kind"}; };
    table.set_first_values({{"kind", 300}}, true);
    CHECK_FALSE(table.on_enter(job(1), second(0)));  // not synced yet
    table.set_synced(second(0));
    CHECK(table.on_enter(job(2), second(0)) == 300U);
    CHECK_FALSE(table.is_waiting(2));
    CHECK(table.gave_first() == 1);
    CHECK_FALSE(table.set_for_all(2, 300));
    CHECK_FALSE(table.is_ahead());  // the job-manager has that
    CHECK(table.on_enter(job(3, 0), second(0)) == priority_lowest);
    CHECK(table.set(4, 0) == 0);
    CHECK(table.on_enter(job(4), second(0)) == 0U);  // a limit holds it back
    CHECK_FALSE(table.on_enter(in_priority(5), second(0)));
    table.set_first_values({{"other", 5}}, true);
    CHECK_FALSE(table.on_enter(job(6), second(0)));
    table.set_first_values({{"kind", 0}}, false);
    CHECK(table.on_enter(job(7), second(0)) == priority_lowest);  // 0 would hold it
    table.set_detached(second(0), false);
    table.set_synced(second(1));
    CHECK_FALSE(table.wants_kind());
}

TEST_CASE("tap table: an unknown job in SCHED keeps its priority when everybody is asked") {
    TapTable table(timeout);
    CHECK(table.on_get(in_sched(1, 4711), second(0)) == 4711);
    CHECK(table.waiting() == 0);
    CHECK_FALSE(table.on_get(in_priority(2), second(0)));
}

TEST_CASE("tap table: held and expedited jobs leave PRIORITY at once, for the job-manager overrides them") {
    TapTable table(timeout);
    CHECK(table.on_enter(in_priority(1, 0), second(0)) == priority_lowest);
    CHECK(table.on_enter(in_priority(2, 31), second(0)) == priority_lowest);
    CHECK(table.waiting() == 0);
}

TEST_CASE("tap table: after the timeout waiting jobs get a fallback, and later ones at once") {
    TapTable table(timeout);
    table.on_enter(in_priority(7), second(0));
    table.on_enter(in_priority(3, 20), second(30));
    CHECK(table.next_deadline() == second(60));
    CHECK(table.release_overdue(second(59)).empty());
    const auto released = table.release_overdue(second(60));
    CHECK(released == std::vector<std::pair<std::uint64_t, std::uint32_t>>{{3, 20}, {7, 16}});
    CHECK(table.mode() == TapTable::Mode::fallback);
    CHECK(table.on_enter(in_priority(9, 12), second(61)) == 12U);
    table.set_synced(second(62));
    CHECK_FALSE(table.on_enter(in_priority(10), second(62)));
}

TEST_CASE("tap table: a waiting job that becomes held or expedited waits no more, any other urgency is remembered") {
    TapTable table(timeout);
    for (const std::uint64_t id : {1, 2, 3}) {
        CHECK_FALSE(table.on_enter(in_priority(id), second(0)));
    }
    CHECK(table.on_urgency(1, 31));
    CHECK(table.on_urgency(2, 0));
    CHECK_FALSE(table.on_urgency(3, 20));
    CHECK_FALSE(table.on_urgency(1, 0));
    CHECK(table.waiting() == 1);
    CHECK(table.release_overdue(second(60)) == std::vector<std::pair<std::uint64_t, std::uint32_t>>{{3, 20}});
}

TEST_CASE("tap table: one job without a value does not make a module that is heard an absent one") {
    TapTable table(timeout);
    table.on_enter(in_priority(1), second(0));
    table.on_enter(in_priority(2), second(30));
    table.set_synced(second(31));
    CHECK(table.release_overdue(second(60)) == std::vector<std::pair<std::uint64_t, std::uint32_t>>{{1, 16}});
    CHECK(table.mode() == TapTable::Mode::synced);
    CHECK(table.is_waiting(2));
    table.on_enter(in_priority(3), second(32));
    CHECK(table.release_overdue(second(92)).size() == 2);  // not heard since job 3 came
    CHECK(table.mode() == TapTable::Mode::fallback);
}

TEST_CASE("tap table: a module that says goodbye releases waiting jobs without a timeout") {
    TapTable table(timeout);
    table.set_synced(second(0));
    table.on_enter(in_priority(1), second(0));
    table.set_detached(second(0), false);
    CHECK(table.release_overdue(second(0)).size() == 1);
}

// Mutant: modules/job-priority/tap/tap_table.hpp: is_limited ? Mode::starting => false ? Mode::starting
TEST_CASE("tap table: where limits hold, a job that comes while the module is away waits for the timeout") {
    TapTable table(timeout);
    table.set_synced(second(0));
    table.on_enter(in_priority(1), second(5));
    table.set_detached(second(10), true);
    CHECK(table.release_overdue(second(10)).empty());
    CHECK_FALSE(table.on_enter(in_priority(2), second(20)));
    CHECK(table.withheld() == std::vector<std::uint64_t>{1, 2});
    SECTION("it is loaded again") {
        table.set_attached();
        table.set_synced(second(30));
        CHECK(table.release_overdue(second(70)) == std::vector<std::pair<std::uint64_t, std::uint32_t>>{{1, 16}});
        CHECK(table.mode() == TapTable::Mode::synced);
    }
    SECTION("it stays away: all that wait are released together, and later ones do not wait") {
        CHECK(table.next_deadline() == second(65));
        CHECK(table.release_overdue(second(64)).empty());
        CHECK(table.release_overdue(second(70)).size() == 2);
        CHECK(table.on_enter(in_priority(3), second(71)) == 16U);
    }
    SECTION("it stays away, and no job came before the timeout") {
        table.forget(1);
        table.forget(2);
        CHECK(table.release_overdue(second(70)).empty());
        CHECK(table.on_enter(in_priority(3), second(71)) == 16U);
    }
}

// Mutant: modules/job-priority/tap/tap_table.cpp: now < *detached_at_ + unavail_timeout_ => now < *detached_at_
TEST_CASE("tap table: who was held back starts when the module stays away, and not when it is loaded again") {
    TapTable table(timeout);
    table.set(1, 500);
    table.set(2, 0);
    table.set_synced(second(0));
    table.set_detached(second(10), false);
    CHECK(table.next_deadline() == second(70));
    CHECK(table.release_withheld(second(69)) == 0);
    CHECK(table.on_get(in_sched(2, 0), second(69)) == 0);
    SECTION("it stays away") {
        CHECK(table.release_withheld(second(70)) == 1);
        CHECK_FALSE(table.next_deadline());
        CHECK(table.on_get(in_sched(1, 500), second(70)) == 500);
        CHECK(table.on_get(in_sched(2, 0), second(70)) == 16);
        CHECK(table.on_get({3, 0, true, 0}, second(70)) == 0);  // held by its user
        CHECK(table.withheld().empty());                        // what a later module asks for
    }
    SECTION("it asks who was held back, and takes long to read its backlog") {
        table.set_attached();
        CHECK_FALSE(table.next_deadline());
        CHECK(table.release_withheld(second(200)) == 0);
        CHECK(table.withheld() == std::vector<std::uint64_t>{2});
    }
    SECTION("it has sent its values") {
        table.set_synced(second(69));
        CHECK(table.release_withheld(second(200)) == 0);
        CHECK(table.on_get(in_sched(2, 0), second(200)) == 0);
    }
}

TEST_CASE("tap table: a fallback never stands before a job that the module evaluated") {
    TapTable table(timeout);
    table.set(1, 5);
    table.set(2, 900);
    CHECK(table.fallback(16) == 5);
    CHECK(table.fallback(3) == 3);
    table.set(1, 800);
    CHECK(table.fallback(30) == 30);
    table.forget(1);
    table.forget(2);
    CHECK(table.fallback(16) == 16);
}

TEST_CASE("tap table: a job that is over is forgotten") {
    TapTable table(timeout);
    table.set(1, 5);
    table.on_enter(in_priority(2), second(0));
    table.forget(1);
    table.forget(2);
    CHECK(table.known() == 0);
    CHECK(table.waiting() == 0);
}

// Kills the mutants "no clamp", "clamp as unsigned" (-5 becomes 4294967291) and "less than 0 holds back".
TEST_CASE("tap table: withheld from the scheduler are those that wait for a value and those that a limit holds back") {
    TapTable table(timeout);
    (void)table.on_enter(in_priority(1), second(0));
    table.set(2, 0);
    table.set(3, 7);
    (void)table.on_enter(in_priority(4, 31), second(0));
    CHECK(table.withheld() == std::vector<std::uint64_t>{1, 2});
    table.set_detached(second(0), false);
    (void)table.release_overdue(second(1));  // 1 has a fallback value and may start
    CHECK(table.withheld() == std::vector<std::uint64_t>{2});
}

TEST_CASE("tap table: whatever is stored, nothing but 0 is held and nothing expedited") {
    draw::property("0, or in [1, 2^32-2] nearest to what was asked", [] {
        const auto value = draw::arbitrary<std::int64_t>();
        TapTable table(timeout);
        const std::uint32_t stored = table.set(1, value);
        RC_ASSERT((stored >= 1U) == (value != 0));
        RC_ASSERT(stored <= 4294967294U);
        if (value >= 1 && value <= 4294967294) {
            RC_ASSERT(static_cast<std::int64_t>(stored) == value);
        }
        RC_ASSERT(table.on_enter(in_priority(1), second(0)) == stored);
    });
}

// Kills the mutants "the cached lowest value is not lowered", "not raised" and "held back jobs lower it".
TEST_CASE("tap table: the fallback is the lowest known value at most, whatever happened before") {
    draw::property("after any changes", [] {
        TapTable table(timeout);
        std::map<std::uint64_t, std::uint32_t> model;
        for (std::size_t steps = draw::length(); steps > 0; steps--) {
            const auto id = draw::in_range<std::uint64_t>(0, 100);
            const auto value = draw::in_range(-1000, 1000);
            if (value < 0) {
                table.forget(id);
                model.erase(id);
            } else {
                model[id] = table.set(id, value);
            }
            std::uint32_t want = 30;
            for (const auto& entry : model) {
                want = entry.second > 0 ? std::min(want, entry.second) : want;
            }
            RC_ASSERT(table.fallback(30) == want);
        }
    });
}
