// SPDX-License-Identifier: LGPL-3.0-only
// The priority engine: factors, bypass, what a pass yields, explanations.
#include "libsched/priority/engine.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "libsched/priority/explain.hpp"
#include "t/unit/draws.hpp"
#include "t/unit/libsched/workload.hpp"

using namespace weir;
using test::at;

namespace {

using Changes = std::vector<PriorityEngine::Change>;

PrioritySettings settings() {
    PrioritySettings s;
    s.machine_cores = 100;
    s.qos_priority = {0., 50., 100.};
    s.queue_priority = {10., 20.};
    s.wait_max = std::chrono::hours(1);
    return s;
}

JobInputs job(std::uint64_t id) {
    JobInputs in;
    in.id = JobId{id};
    return in;
}

/// The formula of the documentation, written the slow way, before rounding; bypass values as they are.
double naive(const PrioritySettings& s, const JobInputs& in, Instant now, const std::vector<double>& factors) {
    if (in.urgency == 0) {
        return 0.;
    }
    if (in.urgency == 31) {
        return 4294967295.;
    }
    const double wait = std::min(1., std::max(0., to_seconds(now - in.eligible) / to_seconds(s.wait_max)));
    const double qos = s.qos_priority[in.qos] / 100.;
    const double queue = s.queue_priority[in.queue] / 20.;
    const double size = s.size_favors_large ? in.cores / 100. : 1. - in.cores / 100.;
    const double user = (in.urgency - 1) / 29.;
    const double sum = (s.weights[0] * wait + s.weights[1] * factors[in.association]) +
                       (s.weights[2] * qos + s.weights[3] * queue + s.weights[4] * size + s.weights[5] * user);
    return std::min(4294967294., std::max(1., sum));
}

}  // namespace

TEST_CASE("priority: the documented example adds up to the digit") {
    PriorityEngine engine(settings());
    JobInputs in = job(1);
    in.eligible = at(0);
    in.association = 1;
    in.cores = 50;
    in.qos = 1;
    in.queue = 1;
    in.urgency = 16;
    const auto slot = engine.insert(in);
    const std::vector<double> factors{0., .25};
    // 1000 x 0.5 + 10000 x 0.25 + 1000 x 0.5 + 1000 x 1 + 500 x 0.5 + 1000 x 15/29
    CHECK(engine.priority(slot, at(1800), factors) == 5267);
    const Breakdown parts = breakdown(engine, slot, at(1800), factors);
    CHECK(parts.priority == 5267);
    CHECK(parts.terms[0].raw == 1800.);
    CHECK(parts.terms[1].contribution == 2500.);
    CHECK(parts.terms[2].raw == 50.);
    CHECK(parts.terms[4].factor == .5);
    double shares = 0.;
    for (const Term& term : parts.terms) {
        shares += term.share;
    }
    CHECK(shares == Approx(1.));
}

TEST_CASE("priority: wait grows to the maximum and stops") {
    PriorityEngine engine(settings());
    const auto slot = engine.insert(job(1));
    const std::vector<double> none;
    const auto begin = engine.priority(slot, at(0), none);
    CHECK(engine.priority(slot, at(3600), none) == begin + 1000);
    CHECK(engine.priority(slot, at(999999), none) == begin + 1000);
}

TEST_CASE("priority: held and expedited jobs bypass the sum") {
    PriorityEngine engine(settings());
    JobInputs in = job(1);
    in.urgency = 0;
    const auto held = engine.insert(in);
    in.id = JobId{2};
    in.urgency = 31;
    const auto expedited = engine.insert(in);
    Changes changes;
    engine.pass(at(10), {}, changes);
    REQUIRE(changes.size() == 2);
    CHECK(engine.pushed(held) == priority_held);
    CHECK(engine.pushed(expedited) == priority_expedited);
    in.urgency = 16;
    engine.update(expedited, in);
    changes.clear();
    engine.pass(at(10), {}, changes);
    REQUIRE(changes.size() == 1);
    CHECK(changes[0].priority < priority_max);
}

TEST_CASE("priority: a job that is held first and expedited then is yielded both times") {
    PriorityEngine engine(settings());
    JobInputs in = job(1);
    in.urgency = 0;
    const auto slot = engine.insert(in);
    Changes changes;
    engine.pass_one(slot, at(0), {}, changes);
    in.urgency = 31;
    engine.update(slot, in);
    engine.pass_one(slot, at(0), {}, changes);
    REQUIRE(changes.size() == 2);
    CHECK(changes[0].priority == priority_held);
    CHECK(changes[1].priority == priority_expedited);
}

TEST_CASE("priority: all weights zero give 1, not 0, which would hold the job") {
    PrioritySettings s;
    s.weights = {};
    PriorityEngine engine(s);
    CHECK(engine.priority(engine.insert(job(1)), at(0), {}) == 1);
    CHECK(warnings(s).size() == 1);
}

TEST_CASE("priority: a sum beyond 32 bits stays below expedited") {
    PrioritySettings s;
    s.weights[1] = 1e12;
    PriorityEngine engine(s);
    const std::vector<double> factors{1.};
    CHECK(engine.priority(engine.insert(job(1)), at(0), factors) == priority_max);
    CHECK_FALSE(warnings(s).empty());
}

TEST_CASE("priority: settings that cannot be are refused, each with its reason") {
    PrioritySettings s;
    s.weights[0] = -1.;
    s.weights[1] = std::numeric_limits<double>::quiet_NaN();
    s.wait_max = Duration::zero();
    s.machine_cores = 0;
    const auto result = validate(s);
    REQUIRE_FALSE(result.has_value());
    for (const char* part : {"weight of wait", "weight of fairshare", "wait-max", "at least one core"}) {
        CHECK(result.error().message.find(part) != std::string::npos);
    }
}

TEST_CASE("priority: settings without effect are warned about") {
    PrioritySettings s;
    s.qos_priority = {0., 0.};
    s.weights[3] = 0.;
    s.queue_priority = {1., 2.};
    const auto found = warnings(s);
    REQUIRE(found.size() == 2);
    CHECK(found[0].find("every qos has priority 0") != std::string::npos);
    CHECK(found[1].find("weight of queue is 0") != std::string::npos);
}

TEST_CASE("priority: a slot is given again and its new job is yielded") {
    PriorityEngine engine(settings());
    const auto first = engine.insert(job(1));
    Changes changes;
    engine.pass(at(0), {}, changes);
    engine.remove(first);
    changes.clear();
    engine.pass(at(0), {}, changes);
    CHECK(changes.empty());
    const auto second = engine.insert(job(2));
    CHECK(second == first);
    engine.pass(at(0), {}, changes);
    REQUIRE(changes.size() == 1);
    CHECK(changes[0].id == JobId{2});
    CHECK(engine.size() == 1);
}

TEST_CASE("priority: what did not arrive is yielded again") {
    PriorityEngine engine(settings());
    engine.insert(job(1));
    const auto slot = engine.insert(job(2));
    Changes changes;
    engine.pass(at(0), {}, changes);
    engine.forget_pushed(slot);
    changes.clear();
    engine.pass(at(0), {}, changes);
    REQUIRE(changes.size() == 1);
    CHECK(changes[0].slot == slot);
    engine.forget_pushed();
    changes.clear();
    engine.pass(at(0), {}, changes);
    CHECK(changes.size() == 2);
}

TEST_CASE("explain: rank, who stands above, and why in words") {
    PriorityEngine engine(settings());
    JobInputs in = job(1);
    in.association = 0;
    const auto mine = engine.insert(in);
    in = job(2);
    in.association = 1;
    engine.insert(in);
    in = job(3);
    in.urgency = 31;
    engine.insert(in);
    in = job(4);
    in.urgency = 0;
    const auto held = engine.insert(in);
    const std::vector<double> factors{.1, .9};
    const Standing s = standing({engine, at(0), factors}, mine, 10);
    CHECK(s.rank == 3);
    CHECK(s.of == 4);
    REQUIRE(s.ahead.size() == 2);
    CHECK(s.ahead[0].id == JobId{2});
    CHECK(s.ahead[0].greatest == Factor::fairshare);
    CHECK(s.ahead[0].lead == Approx(8000.));
    CHECK(s.ahead[0].why == "its fair share is better: +8000 from fairshare, in all 8000 ahead");
    CHECK(s.ahead[1].why == "it was expedited by the instance owner");
    CHECK(standing({engine, at(0), factors}, held, 1).ahead[0].why == "this job is held (urgency 0) and it is not");
    const Standing among = standing({engine, at(0), factors}, mine, 10, [](JobId) { return Counts::as_ahead; });
    CHECK(among.rank == 1);
    CHECK(among.of == 1);
    CHECK(among.ahead.size() == s.ahead.size());
}

TEST_CASE("explain: jobs that do not count take no place among the nearest") {
    PriorityEngine engine(settings());
    const auto submitted_in = [&engine](std::uint64_t id, std::uint16_t queue) {
        JobInputs in = job(id);
        in.queue = queue;
        in.submit = at(static_cast<std::int64_t>(id));
        return engine.insert(in);
    };
    submitted_in(1, 1);
    for (std::uint64_t id = 2; id <= 6; id++) {
        submitted_in(id, 0);
    }
    const auto last = submitted_in(7, 1);
    const Standing s = standing({engine, at(0), {}}, last, 5, [](JobId other) {
        return other.value == 1 || other.value == 7 ? Counts::fully : Counts::not_at_all;
    });
    CHECK(s.rank == 2);
    CHECK(s.of == 2);
    REQUIRE(s.ahead.size() == 1);
    CHECK(s.ahead[0].id == JobId{1});
}

TEST_CASE("explain: only the nearest are listed, and ties fall to the earlier submission") {
    PriorityEngine engine(settings());
    std::vector<PriorityEngine::Slot> slots;
    for (std::uint64_t id = 1; id <= 6; id++) {
        JobInputs in = job(id);
        in.submit = at(static_cast<std::int64_t>(id));
        slots.push_back(engine.insert(in));
    }
    const Standing s = standing({engine, at(0), {}}, slots[5], 2);
    CHECK(s.rank == 6);
    REQUIRE(s.ahead.size() == 2);
    CHECK(s.ahead[0].id == JobId{5});
    CHECK(s.ahead[1].id == JobId{4});
    CHECK(s.ahead[0].why == "the priorities are equal and it was submitted earlier");
    const auto order = in_queue_order(engine, at(0), {});
    CHECK(order.front().id == JobId{1});
    CHECK(order.back().id == JobId{6});
}

TEST_CASE("explain: a job that an earlier pass keeps up is ahead for that") {
    PrioritySettings raising = settings();
    raising.only_raises = true;
    PriorityEngine engine(raising);
    JobInputs in = job(1);
    const auto kept = engine.insert(in);
    in = job(2);
    in.association = 1;
    const auto behind = engine.insert(in);
    std::vector<PriorityEngine::Change> changes;
    engine.pass(at(0), std::vector<double>{.9, 0.}, changes);
    const std::vector<double> factors{.1, .2};
    CHECK(breakdown(engine, kept, at(0), factors).is_kept_up);
    CHECK_FALSE(breakdown(engine, behind, at(0), factors).is_kept_up);
    const Standing s = standing({engine, at(0), factors}, behind, 1);
    REQUIRE(s.ahead.size() == 1);
    CHECK(s.ahead[0].why ==
          "an earlier pass gave it more than its terms give now, and no pass lowers it (only-raises): 7000 ahead");
    CHECK_FALSE(s.ahead[0].greatest);
}

// Mutant: libsched/priority/explain.cpp: is_held_back ? 1 : 0 => false ? 1 : 0
TEST_CASE("explain: jobs that are held back come after all others") {
    PriorityEngine engine(settings());
    std::vector<PriorityEngine::Slot> slots;
    for (std::uint64_t id = 1; id <= 4; id++) {
        JobInputs in = job(id);
        in.submit = at(static_cast<std::int64_t>(id));
        slots.push_back(engine.insert(in));
    }
    const IsHeldBack is_held_back = [](JobId id) { return id.value <= 2; };
    const Standing third = standing({engine, at(0), {}}, slots[2], 5, {}, is_held_back);
    CHECK(third.rank == 1);
    CHECK(third.of == 4);
    CHECK(third.ahead.empty());
    const Standing second = standing({engine, at(0), {}}, slots[1], 5, {}, is_held_back);
    CHECK(second.rank == 4);
    REQUIRE(second.ahead.size() == 3);
    CHECK(second.ahead[0].id == JobId{1});
    CHECK(second.ahead[0].why == "the priorities are equal and it was submitted earlier");
    CHECK(second.ahead[1].id == JobId{4});
    CHECK(second.ahead[1].why == "this job is held back and it is not");
    std::vector<std::uint64_t> order;
    for (const auto& change : in_queue_order(engine, at(0), {}, 3, is_held_back)) {
        order.push_back(change.id.value);
    }
    CHECK(order == std::vector<std::uint64_t>{3, 4, 1});
}

namespace {
JobInputs any_inputs() {
    JobInputs in;
    in.eligible = at(draw::in_range(0, 8000));
    in.association = draw::in_range(0U, 4U);
    in.cores = draw::in_range(1U, 101U);
    in.queue = static_cast<std::uint16_t>(draw::in_range(0, 2));
    in.qos = static_cast<std::uint8_t>(draw::in_range(0, 3));
    in.urgency = draw::element<std::uint8_t>(0, 1, 10, 16, 30, 31);
    return in;
}
}  // namespace

// Kills: a pass that skips the last slot; rounding by truncation; wait clamped at 0.99; a yield for an unchanged value.
TEST_CASE("priority: a pass yields exactly the jobs whose naive priority changed") {
    draw::property("pass = naive formula", [] {
        const auto jobs = draw::several(any_inputs);
        const PrioritySettings s = settings();
        PriorityEngine engine(s);
        std::vector<PriorityEngine::Slot> slots;
        for (std::size_t i = 0; i < jobs.size(); i++) {
            JobInputs in = jobs[i];
            in.id = JobId{i};
            slots.push_back(engine.insert(in));
        }
        std::vector<double> factors{0., .125, .5, 1.};
        std::vector<std::int64_t> before(jobs.size(), -1);
        for (const int second : {0, 1000, 1000, 9000}) {
            Changes changes;
            engine.pass(at(second), factors, changes);
            std::size_t next = 0;
            for (std::size_t i = 0; i < jobs.size(); i++) {
                const double expected = naive(s, jobs[i], at(second), factors);
                // Rounded to nearest; another order of additions may turn an exact half the other way.
                const std::uint32_t got = engine.pushed(slots[i]);
                RC_ASSERT(std::abs(static_cast<double>(got) - expected) <= .5 + 1e-6);
                RC_ASSERT(got == breakdown(engine, slots[i], at(second), factors).priority);
                if (before[i] != got) {
                    RC_ASSERT(next < changes.size());
                    RC_ASSERT(changes[next].id == JobId{i});
                    RC_ASSERT(changes[next].priority == got);
                    next++;
                }
                before[i] = got;
            }
            RC_ASSERT(next == changes.size());
            std::swap(factors[1], factors[2]);
        }
    });
}

// Kills: a limit that is off by one; the first ones left unsorted; the least taken for the greatest.
TEST_CASE("queue order: the first k are the beginning of the whole order") {
    draw::property("top k = prefix", [] {
        const auto jobs = draw::several(any_inputs);
        PriorityEngine engine(settings());
        for (std::size_t i = 0; i < jobs.size(); i++) {
            JobInputs in = jobs[i];
            in.id = JobId{i};
            engine.insert(in);
        }
        const std::vector<double> factors{0., .125, .5, 1.};
        const auto all = in_queue_order(engine, at(5000), factors);
        const std::size_t limit = draw::in_range(std::size_t{0}, jobs.size() + 2);
        const auto first = in_queue_order(engine, at(5000), factors, limit);
        RC_ASSERT(all.size() == jobs.size());
        RC_ASSERT(first.size() == std::min(limit, jobs.size()));
        for (std::size_t i = 0; i < first.size(); i++) {
            RC_ASSERT(first[i].id == all[i].id);
        }
    });
}

// Kills: a comparison that ignores submission or id; <=> with a and b exchanged.
TEST_CASE("queue order: total, and equal only for the same job") {
    draw::property("trichotomy and transitivity", [] {
        const auto key = [] {
            return QueueKey{draw::in_range(0U, 3U), at(draw::in_range(0, 3)),
                            JobId{draw::in_range<std::uint64_t>(0, 3)}};
        };
        const auto a = key();
        const auto b = key();
        const auto c = key();
        RC_ASSERT((a < b) + (b < a) + (a == b) == 1);
        RC_ASSERT(!(a < b && b < c) || a < c);
        RC_ASSERT(!(a.priority > b.priority) || a < b);
        RC_ASSERT(!(a.priority == b.priority && a.submit < b.submit) || a < b);
    });
}
