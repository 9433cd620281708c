// SPDX-License-Identifier: LGPL-3.0-only
// Every policy against its naive twin, on a count of cores and on one node that has them all.
#include <catch2/catch.hpp>

#include "libsched/policy/combination.hpp"
#include "t/unit/draws.hpp"
#include "t/unit/libsched/naive_replay.hpp"
#include "t/unit/libsched/workload.hpp"

using namespace weir;
using Rules = test::NaiveReplay::Rules;

namespace {

std::vector<std::int64_t> start_seconds(const std::vector<Instant>& starts) {
    std::vector<std::int64_t> out;
    for (const Instant start : starts) {
        out.push_back(start.time_since_epoch().count() / 1'000'000);
    }
    return out;
}

void same_as_naive(const std::string& policy, const Rules& rules, std::size_t jobs_max = 25) {
    draw::property(policy + " starts every job when its naive twin does", [&] {
        auto jobs = test::any_workload(8);
        jobs.resize(std::min(jobs.size(), jobs_max));
        for (SimJob& job : jobs) {
            job.limit = std::max(job.limit, test::secs(1));
        }
        const auto expected = test::NaiveReplay(jobs, 8, rules).starts();
        const Policy one = policy_named(policy).value();
        RC_ASSERT(start_seconds(*simulate(jobs, 8, one)) == expected);
        RC_ASSERT(start_seconds(*simulate(jobs, test::machine(1, 8), one)) == expected);
    });
}

}  // namespace

// Kills: an arrival that is not asked while the reservation stands; reservations that stand when something came back
// early, or past their beginning.
TEST_CASE("policies without or with one reservation: as their naive twins") {
    same_as_naive("fcfs", {.kind = Rules::Kind::fcfs});
    same_as_naive("first-fit:starve-after=0", {.kind = Rules::Kind::first_fit});
    same_as_naive("first-fit:starve-after=20s", {.kind = Rules::Kind::first_fit, .starve_after = 20});
    same_as_naive("easy", {.depth = 1});
    same_as_naive("easy-sjf", {.depth = 1, .shortest_first = true});
    same_as_naive("easy:backfill=best-fit", {.depth = 1, .widest_first = true});
    same_as_naive("easy:reserve-after=15s", {.depth = 1, .reserve_after = 15});
}

// Kills: a window that ends a step early or late; a hole found before one that is earlier; stop before one that fits; a
// chunk summary that is not forgotten; the first reservation not entered when the second comes.
TEST_CASE("policies with many reservations: as their naive twins") {
    same_as_naive("hybrid:depth=2", {.depth = 2});
    same_as_naive("hybrid:depth=3,backfill=shortest", {.depth = 3, .shortest_first = true});
    same_as_naive("hybrid:depth=2,reserve-after=10s", {.depth = 2, .reserve_after = 10});
    same_as_naive("conservative", {.depth = 1'000'000});
}

// Kills: ends before submissions; one walk for several ends; a walk whose moved job does not free its old place.
TEST_CASE("conservative-fw: as its naive twin") {
    same_as_naive("conservative-fw", {.kind = Rules::Kind::kept});
}

// Mutant: libsched/policy/backfill.hpp: return bound.after < end; => return bound.after < std::min(now, end);
// Mutant: libsched/resource/resource_space.cpp: return profile_.bounds( => return AvailabilityProfile{}.bounds(
TEST_CASE("greedy: the combination that delays no reservation and is worth most, as its naive twin's") {
    same_as_naive("easy:backfill=greedy", {.depth = 1, .greedy = Rules::Greedy::cores}, 14);
    same_as_naive("easy:backfill=greedy,metric=proc-seconds", {.depth = 1, .greedy = Rules::Greedy::core_seconds}, 14);
    same_as_naive("hybrid:depth=2,backfill=greedy", {.depth = 2, .greedy = Rules::Greedy::cores}, 14);
    same_as_naive("hybrid:depth=3,backfill=greedy,metric=proc-seconds",
                  {.depth = 3, .greedy = Rules::Greedy::core_seconds}, 14);
}

// Kills: a bound that cuts off the best; a bound ignored; an item taken twice.
TEST_CASE("greedy: the combination is the best of all") {
    draw::property("no subset that fits is worth more", [] {
        const auto count = static_cast<std::size_t>(draw::in_range(0, 10));
        std::vector<Combination::Item> items;
        for (std::size_t i = 0; i < count; i++) {
            items.push_back({static_cast<std::uint64_t>(draw::in_range(1, 9)), draw::in_range<std::size_t>(1, 4),
                             draw::in_range(0, 12)});
        }
        std::stable_sort(items.begin(), items.end(), [](const auto& a, const auto& b) { return a.value > b.value; });
        std::vector<std::uint64_t> bounds;
        for (const int most : {20, 12, 8}) {
            bounds.push_back(static_cast<std::uint64_t>(draw::in_range(0, most)));
        }
        const auto value_of = [&](const auto& takes) -> std::int64_t {
            std::vector<std::uint64_t> cores(bounds.size());
            std::int64_t value = 0;
            for (std::size_t i = 0; i < count; i++) {
                for (std::size_t b = 0; takes(i) && b < items[i].bounds; b++) {
                    cores[b] += items[i].cores;
                }
                value += takes(i) ? items[i].value : 0;
            }
            return std::equal(cores.begin(), cores.end(), bounds.begin(), std::less_equal<>()) ? value : -1;
        };
        const auto best = Combination::best(items, bounds);
        std::int64_t most = 0;
        for (std::uint32_t set = 0; set < (1U << count); set++) {
            most = std::max(most, value_of([&](std::size_t i) { return (set >> i & 1U) != 0; }));
        }
        RC_ASSERT(value_of([&](std::size_t i) { return std::find(best.begin(), best.end(), i) != best.end(); }) ==
                  most);
    });
}
