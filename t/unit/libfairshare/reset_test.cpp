// SPDX-License-Identifier: LGPL-3.0-only
#include "libfairshare/usage/reset.hpp"

#include <catch2/catch.hpp>

#include "t/unit/libfairshare/support.hpp"

using namespace weir;
using namespace weir::testing;
using namespace std::chrono_literals;

namespace {

Instant date(int year, unsigned month, unsigned day, int hour = 0) {
    const std::chrono::sys_days midnight{std::chrono::year{year} / std::chrono::month{month} / std::chrono::day{day}};
    return Instant{std::chrono::duration_cast<Duration>(midnight.time_since_epoch())} + std::chrono::hours{hour};
}

}  // namespace

TEST_CASE("reset: each period begins where the calendar says") {
    const Instant saturday = date(2026, 11, 21, 9);
    CHECK(period_start(ResetPeriod::daily, saturday) == date(2026, 11, 21));
    CHECK(period_start(ResetPeriod::weekly, saturday) == date(2026, 11, 15));  // a Sunday
    CHECK(period_start(ResetPeriod::monthly, saturday) == date(2026, 11, 1));
    CHECK(period_start(ResetPeriod::quarterly, saturday) == date(2026, 10, 1));
    CHECK(period_start(ResetPeriod::yearly, saturday) == date(2026, 1, 1));
    CHECK(next_reset(ResetPeriod::daily, saturday) == date(2026, 11, 22));
    CHECK(next_reset(ResetPeriod::weekly, saturday) == date(2026, 11, 22));
    CHECK(next_reset(ResetPeriod::monthly, saturday) == date(2026, 12, 1));
    CHECK(next_reset(ResetPeriod::quarterly, saturday) == date(2027, 1, 1));
    CHECK(next_reset(ResetPeriod::yearly, saturday) == date(2027, 1, 1));
    CHECK_FALSE(next_reset(ResetPeriod::none, saturday));
    CHECK_FALSE(period_start(ResetPeriod::now, saturday));
}

TEST_CASE("reset: leap days, years and times before the epoch are months like others") {
    CHECK(next_reset(ResetPeriod::monthly, date(2024, 2, 29, 1)) == date(2024, 3, 1));
    CHECK(next_reset(ResetPeriod::quarterly, date(2025, 12, 31, 23)) == date(2026, 1, 1));
    CHECK(period_start(ResetPeriod::weekly, date(1969, 12, 31, 5)) == date(1969, 12, 28));
    CHECK(period_start(ResetPeriod::daily, date(1969, 12, 31, 5)) == date(1969, 12, 31));
}

TEST_CASE("reset: a day begins at the site's midnight") {
    CHECK(period_start(ResetPeriod::daily, date(2026, 11, 21, 23), 2h) == date(2026, 11, 21, 22));
    CHECK(period_start(ResetPeriod::daily, date(2026, 11, 21, 4), -5h) == date(2026, 11, 20, 5));
    CHECK(next_reset(ResetPeriod::monthly, date(2026, 11, 30, 23), 2h) == date(2026, 12, 31, 22));
}

TEST_CASE("reset: a boundary is due when it has come, and once") {
    const Instant last = date(2026, 11, 20, 12);
    CHECK_FALSE(due_reset(ResetPeriod::daily, last, date(2026, 11, 20, 23)));
    CHECK(due_reset(ResetPeriod::daily, last, date(2026, 11, 21)) == date(2026, 11, 21));
    CHECK_FALSE(due_reset(ResetPeriod::daily, date(2026, 11, 21), date(2026, 11, 21, 5)));
    CHECK(due_reset(ResetPeriod::now, last, date(2026, 11, 21, 5)) == date(2026, 11, 21, 5));
    CHECK_FALSE(due_reset(ResetPeriod::none, last, date(2030, 1, 1)));
}

TEST_CASE("reset: boundaries missed in an outage cause one reset, or one a pass as Slurm does") {
    const Instant last = date(2026, 5, 15);
    const Instant now = date(2026, 11, 21, 10);
    CHECK(due_reset(ResetPeriod::monthly, last, now) == date(2026, 11, 1));
    CHECK_FALSE(due_reset(ResetPeriod::monthly, date(2026, 11, 1), now));
    const auto slurm = [&](Instant recorded) {
        return due_reset(ResetPeriod::monthly, recorded, now, {}, MissedResets::each_pass);
    };
    CHECK(slurm(last) == date(2026, 6, 1));
    CHECK(slurm(date(2026, 6, 1)) == date(2026, 7, 1));
    CHECK(due_reset(ResetPeriod::weekly, last, now, {}, MissedResets::each_pass) == date(2026, 11, 15));
}

TEST_CASE("reset: periods have names, in any case of letters") {
    CHECK(*reset_period_named("QUARTERLY") == ResetPeriod::quarterly);
    CHECK(name_of(ResetPeriod::yearly) == "yearly");
    CHECK(reset_period_named("hourly").error().message ==
          "unknown reset period \"hourly\"; known are none, now, daily, weekly, monthly, quarterly, yearly");
}

TEST_CASE("ledger: a reset forgets usage, not running jobs and not the exact total") {
    for (const Duration half_life : {Duration{0}, Duration{3600s}}) {
        UsageLedger ledger{tree_ptr_of({{"@a", 1}}), half_life};
        const NodeId a{1};
        ledger.start(a, 4, second(0));
        ledger.charge(a, 100, second(0), second(50));
        ledger.reset(second(100));
        CHECK(ledger.usage(a, second(100)) == 0);
        CHECK(ledger.charged(a, second(100)) == 5400 * 1000000LL);
        UsageLedger fresh{tree_ptr_of({{"@a", 1}}), half_life};
        fresh.start(a, 4, second(100));
        CHECK(ledger.usage(a, second(500)) == fresh.usage(a, second(500)));
        CHECK(ledger.usage(root_node, second(500)) == fresh.usage(a, second(500)));
    }
}

TEST_CASE("ledger: what is dated before a reset and comes after it counts from the reset") {
    const NodeId a{1};
    UsageLedger ledger{tree_ptr_of({{"@a", 1}}), Duration{3600s}};
    ledger.start(a, 4, second(0));
    ledger.reset(second(100));
    ledger.end(a, 4, second(90));                  // ended before: nothing is left, and nothing below it
    ledger.charge(a, 2, second(80), second(110));  // ten seconds count
    ledger.add(a, 1000000, second(99));
    UsageLedger fresh{tree_ptr_of({{"@a", 1}}), Duration{3600s}};
    fresh.charge(a, 2, second(100), second(110));
    CHECK(ledger.usage(a, second(200)) == fresh.usage(a, second(200)));
    const auto restored = UsageLedger::restore(ledger.tree_ptr(), ledger.save());
    CHECK(restored->save() == ledger.save());
    UsageLedger again = *restored;
    again.charge(a, 2, second(0), second(50));
    CHECK(again.usage(a, second(200)) == fresh.usage(a, second(200)));
}

TEST_CASE("ledger: what was added and is taken back leaves nothing") {
    const NodeId a{1};
    UsageLedger ledger{tree_ptr_of({{"@a", 1}}), Duration{3600s}};
    ledger.add(a, 7200000000, second(0));
    CHECK(core_seconds(ledger.usage(a, second(3600))) == 3600.0);
    ledger.add(a, -7200000000, second(0));
    CHECK(ledger.usage(a, second(3600)) == 0);
    CHECK(ledger.charged(a, second(3600)) == 0);
}
