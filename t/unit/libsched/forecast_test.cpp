// SPDX-License-Identifier: LGPL-3.0-only
// Why each job waits, and forecasts that come true.
#include "libsched/forecast.hpp"

#include <catch2/catch.hpp>
#include <map>

#include "t/unit/draws.hpp"
#include "t/unit/libsched/workload.hpp"

using namespace weir;
using test::at;
using test::machine;
using test::waiting;

namespace {
constexpr std::uint64_t no_budget = 1'000'000;

Scheduler forecast_scheduler(const Policy& policy, std::uint32_t nodes, std::uint32_t cores) {
    Scheduler s(policy);
    s.set_resources(machine(nodes, cores), IdSet::range(0, nodes - 1));
    return s;
}
PendingJob any_waiting(std::uint64_t id) {
    const auto cores = draw::in_range(1U, 7U);
    return waiting(id, cores, draw::in_range(1, 20));
}
WaitReason reason(const Scheduler& s, std::uint64_t id) {
    return why_waiting(s, JobId{id}, at(0))->reason;
}
}  // namespace

TEST_CASE("why: every job has its reason, its place and who stands before it") {
    auto s = forecast_scheduler(Easy{}, 1, 4);
    REQUIRE(s.alloc(waiting(1, 3, 100)).has_value());
    REQUIRE(s.alloc(waiting(2, 4, 10)).has_value());
    REQUIRE(s.alloc(waiting(3, 2, 10)).has_value());
    REQUIRE(s.alloc(waiting(4, 1, 200)).has_value());
    REQUIRE(s.alloc(waiting(5, 1, 200, 0)).has_value());
    s.pass(at(0));
    CHECK(reason(s, 2) == WaitReason::resources);
    CHECK(reason(s, 3) == WaitReason::resources);
    CHECK(reason(s, 4) == WaitReason::reservation);
    CHECK(reason(s, 5) == WaitReason::held);
    CHECK_FALSE(why_waiting(s, JobId{1}, at(0)));
    const auto fourth = why_waiting(s, JobId{4}, at(0));
    CHECK(fourth->place == 3);
    CHECK(fourth->behind == JobId{2});
    CHECK(fourth->behind_at == at(100));
    CHECK(why_waiting(s, JobId{2}, at(0))->text == "waits for 4 cores, next to start; free: 1 core");
    CHECK(forecast(s, JobId{2}, at(0), no_budget).start == at(100));
    CHECK(forecast(s, JobId{3}, at(0), no_budget).start == at(110));
    CHECK_FALSE(forecast(s, JobId{5}, at(0), no_budget).start);
}

TEST_CASE("forecast: one course answers about all jobs, in any order, and looks at a job once") {
    auto s = forecast_scheduler(Easy{}, 1, 4);
    REQUIRE(s.alloc(waiting(1, 3, 100)).has_value());
    for (std::uint64_t id = 2; id <= 40; ++id) {
        REQUIRE(s.alloc(waiting(id, static_cast<std::uint32_t>(1 + id % 4), static_cast<std::int64_t>(10 + id),
                                id == 7 ? 0 : 1))
                    .has_value());
    }
    s.pass(at(0));
    REQUIRE(s.alloc(waiting(41, 1, 5)).has_value());
    ForecastCourse course(s, at(1));
    for (const std::uint64_t id : {30, 40, 2, 7, 41, 30, 39}) {
        CHECK(course.of(JobId{id}, no_budget).start == forecast(s, JobId{id}, at(1), no_budget).start);
    }
    const std::uint64_t looked_at = course.looked_at();
    (void)course.of(JobId{2}, no_budget);
    CHECK(course.looked_at() == looked_at);
    CHECK(course.has(JobId{2}));
    CHECK_FALSE(course.has(JobId{1}));  // it runs
    CHECK_FALSE(course.has(JobId{42}));
    CHECK_FALSE(course.of(JobId{42}, no_budget).start);
    ForecastCourse slow(s, at(1));  // each question goes on where the one before stopped
    int questions = 1;
    while (!slow.of(JobId{40}, 1).start) {
        questions += 1;
    }
    CHECK(questions > 3);
    CHECK(slow.of(JobId{40}, 1).start == course.of(JobId{40}, no_budget).start);
}

TEST_CASE("forecast: a course has the head of a long queue, and says which jobs are too far back") {
    auto s = forecast_scheduler(Fcfs{}, 1, 4);
    for (std::uint64_t id = 1; id <= 30; ++id) {
        REQUIRE(s.alloc(waiting(id, static_cast<std::uint32_t>(1 + id % 4), static_cast<std::int64_t>(10 + id)))
                    .has_value());
    }
    s.pass(at(0));
    REQUIRE(s.pending() == 29);
    for (const std::uint64_t id : {3, 7, 11}) {  // under FCFS what is behind a job does not change its start
        CHECK(forecast(s, JobId{id}, at(1), no_budget, 10).start == forecast(s, JobId{id}, at(1), no_budget).start);
    }
    CHECK_FALSE(forecast(s, JobId{11}, at(1), no_budget, 10).is_too_far_back);
    const Forecast behind = forecast(s, JobId{12}, at(1), no_budget, 10);
    CHECK(behind.is_too_far_back);
    CHECK_FALSE(behind.start);
    CHECK_FALSE(forecast(s, JobId{1}, at(1), no_budget, 10).is_too_far_back);  // it runs
    CHECK(s.pending() == 29);
}

// Kills: a copy of the head that forgets a reservation, what runs, or the priorities' unit; one that has more jobs.
TEST_CASE("scheduler: the head of a queue that is not longer is the whole") {
    draw::property("both go on alike", [] {
        const Policy policy = draw::element<Policy>(Fcfs{}, Easy{}, KeptReservations{}, Backfill{3});
        auto whole = forecast_scheduler(policy, 2, 3);
        std::uint64_t id = 0;
        for (int round = 0; round < 3; ++round) {
            for (std::size_t jobs = draw::length(); jobs > 0; jobs--) {
                RC_ASSERT(whole.alloc(any_waiting(++id)).has_value());
            }
            auto head = whole.head(whole.pending());
            RC_ASSERT(head.pending() == whole.pending());
            const auto expected = whole.pass(at(round));
            const auto found = head.pass(at(round));
            RC_ASSERT(found.started.size() == expected.started.size());
            for (std::size_t i = 0; i < found.started.size(); ++i) {
                RC_ASSERT(found.started[i].id == expected.started[i].id);
            }
            RC_ASSERT(whole.pending() == 0U || whole.head(whole.pending() - 1).pending() == whole.pending() - 1);
        }
    });
}

TEST_CASE("why: FCFS keeps the order even where there is room") {
    auto s = forecast_scheduler(Fcfs{}, 1, 4);
    REQUIRE(s.alloc(waiting(1, 3, 100)).has_value());
    REQUIRE(s.alloc(waiting(2, 4, 10)).has_value());
    REQUIRE(s.alloc(waiting(3, 1, 10)).has_value());
    s.pass(at(0));
    CHECK(reason(s, 3) == WaitReason::order);
}

TEST_CASE("why: nodes that are down are named as the reason, and there is no forecast") {
    auto s = forecast_scheduler(Easy{}, 2, 2);
    s.set_up(IdSet::range(1, 1), false);
    REQUIRE(s.alloc(waiting(1, 3, 10)).has_value());
    s.pass(at(0));
    CHECK(reason(s, 1) == WaitReason::nodes_down);
    CHECK_FALSE(forecast(s, JobId{1}, at(0), no_budget).start);
    Constraint on_second;
    on_second.kind = Constraint::Kind::ranks;
    on_second.ranks = IdSet::range(1, 1);
    REQUIRE(s.alloc(waiting(2, 1, 10), on_second).has_value());
    CHECK(s.pass(at(0)).started.empty());
    CHECK(reason(s, 2) == WaitReason::nodes_down);
}

TEST_CASE("why: only the nodes that satisfy the job's constraints count as free") {
    auto s = forecast_scheduler(Easy{}, 2, 2);
    Constraint on_second;
    on_second.kind = Constraint::Kind::ranks;
    on_second.ranks = IdSet::range(1, 1);
    REQUIRE(s.alloc(waiting(1, 2, 10), on_second).has_value());
    REQUIRE(s.pass(at(0)).started.size() == 1);
    REQUIRE(s.alloc(waiting(2, 1, 10), on_second).has_value());
    s.pass(at(0));
    CHECK(why_waiting(s, JobId{2}, at(0))->text ==
          "waits for 1 core, next to start; free: 0 cores on the nodes that satisfy its constraints");
}

TEST_CASE("annotation: the head says that its nodes are drained or down") {
    auto s = forecast_scheduler(Easy{}, 2, 2);
    s.set_up(IdSet::range(1, 1), false);
    REQUIRE(s.alloc(waiting(1, 3, 10)).has_value());
    const auto effects = s.pass(at(0));
    REQUIRE(effects.annotations.size() == 1);
    CHECK(effects.annotations[0].reason == "next to start: waits for 3 cores; too many nodes are drained or down");
}

TEST_CASE("forecast: a budget that runs out says how far it came") {
    auto s = forecast_scheduler(Fcfs{}, 1, 1);
    for (std::uint64_t id = 1; id <= 9; id++) {
        REQUIRE(s.alloc(waiting(id, 1, 10)).has_value());
    }
    s.pass(at(0));
    CHECK(forecast(s, JobId{9}, at(0), no_budget).start == at(80));
    const auto short_of = forecast(s, JobId{9}, at(0), 3);
    CHECK_FALSE(short_of.start);
    CHECK(short_of.not_before == at(10));  // one pass, however much it looks at
}

TEST_CASE("forecast: what is overdue ends at any moment") {
    auto s = forecast_scheduler(Fcfs{}, 1, 1);
    REQUIRE(s.alloc(waiting(1, 1, 10)).has_value());
    REQUIRE(s.alloc(waiting(2, 1, 10)).has_value());
    s.pass(at(0));
    CHECK(forecast(s, JobId{2}, at(50), no_budget).start == at(50));
    CHECK(s.waiting(JobId{2}) != nullptr);
}

// Mutant: libsched/forecast.hpp: ahead_.counters().considered + ahead_.space().looked_at() =>
// ahead_.counters().considered
TEST_CASE("forecast: the budget counts the nodes that passes look at") {
    constexpr std::uint32_t nodes = 500;
    auto s = forecast_scheduler(Easy{}, nodes, 1);
    std::uint64_t id = 0;
    for (int i = 0; i < 100; i++) {
        REQUIRE(s.alloc(waiting(++id, 5, 1000 + i)).has_value());
    }
    REQUIRE(s.alloc(waiting(++id, nodes, 1000)).has_value());
    for (int i = 0; i < 100; i++) {
        const PendingJob other{{1, at(0), JobId{++id}}, {static_cast<std::uint32_t>(10 + i), 1, 1}, test::secs(5000)};
        REQUIRE(s.alloc(other).has_value());
    }
    REQUIRE(s.pass(at(0)).started.size() == 100);
    ForecastCourse course(s, at(0));
    CHECK(course.good_until() == at(1000));
    constexpr std::uint64_t budget = 50'000;
    std::uint64_t most = 0;
    int questions = 0;
    Instant reached = at(0);
    for (std::uint64_t before = 0;; before = course.looked_at()) {
        const Forecast forecast = course.of(JobId{id}, budget);
        most = std::max(most, course.looked_at() - before);
        questions++;
        if (forecast.start) {
            break;
        }
        REQUIRE(forecast.not_before > reached);
        reached = *forecast.not_before;
    }
    CHECK(questions > 10);
    CHECK(most < budget + 200 * (nodes + 32));  // and a pass: at most all nodes for each job, once
}

// Kills: a forecast by another policy than the scheduler's, one that frees jobs at other times than their limits, one
// that changes the scheduler it looks at.
TEST_CASE("forecast: comes true when nobody else comes and jobs run to their limits") {
    draw::property("each forecast is the start", [] {
        const Policy policy = draw::element<Policy>(Fcfs{}, Easy{});
        auto s = forecast_scheduler(policy, 2, 3);
        std::uint64_t id = 0;
        for (std::size_t jobs = draw::length(); jobs > 0; jobs--) {
            RC_ASSERT(s.alloc(any_waiting(++id)).has_value());
        }
        std::map<std::uint64_t, Instant> foretold;
        for (std::uint64_t job = 1; job <= id; job++) {
            foretold[job] = *forecast(s, JobId{job}, at(0), no_budget).start;
        }
        RC_ASSERT(s.pending() == id);
        std::multimap<Instant, JobId> ends;
        for (Instant now = at(0);; now = ends.begin()->first) {
            while (!ends.empty() && ends.begin()->first == now) {
                RC_ASSERT(s.free(ends.begin()->second, {}, true).has_value());
                ends.erase(ends.begin());
            }
            for (const auto& start : s.pass(now).started) {
                RC_ASSERT(foretold.at(start.id.value) == now);
                ends.emplace(start.end, start.id);
            }
            if (ends.empty()) {
                break;
            }
        }
        RC_ASSERT(s.pending() == 0U);
    });
}

// Mutant: libsched/resource/resource_space.hpp: at < horizon_ ? expected(at) : std::nullopt => expected(at)
TEST_CASE("forecast: no start is expected from the end of the instance on, by any policy") {
    for (const Policy& policy : {Policy{Fcfs{}}, Policy{Easy{}}, Policy{KeptReservations{}}}) {
        auto s = forecast_scheduler(policy, 1, 4);
        s.set_instance_end(at(60));
        REQUIRE(s.alloc(waiting(1, 3, 50)).has_value());
        REQUIRE(s.alloc(waiting(2, 1, 100)).has_value());
        REQUIRE(s.alloc(waiting(3, 4, 10)).has_value());
        REQUIRE(s.alloc(waiting(4, 3, 5)).has_value());
        const auto effects = s.pass(at(0));
        REQUIRE(effects.annotations.at(0).id == JobId{3});
        CHECK_FALSE(effects.annotations.at(0).estimate);
        CHECK_FALSE(forecast(s, JobId{3}, at(0), no_budget).start);
        CHECK_FALSE(why_waiting(s, JobId{4}, at(0))->behind_at);
        s.set_instance_end(at(200));
        s.pass(at(0));
        CHECK(forecast(s, JobId{3}, at(0), no_budget).start == at(100));
        CHECK(why_waiting(s, JobId{4}, at(0))->behind_at == at(100));
    }
}
