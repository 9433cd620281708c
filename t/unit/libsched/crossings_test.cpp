// SPDX-License-Identifier: LGPL-3.0-only
// When one job passes another, against looking at every microsecond.
#include "libsched/priority/crossings.hpp"

#include <catch2/catch.hpp>

#include "t/unit/draws.hpp"
#include "t/unit/libsched/workload.hpp"

using namespace weir;
using test::at;

namespace {

PrioritySettings aging(double wait_weight, Duration wait_max) {
    PrioritySettings s;
    s.weights = {};
    s.weights[index_of(Factor::wait)] = wait_weight;
    s.weights[index_of(Factor::fairshare)] = 1024.;
    s.wait_max = wait_max;
    return s;
}

}  // namespace

TEST_CASE("crossings: a job that goes on ageing passes one that has waited the maximum") {
    PriorityEngine engine(aging(1000., std::chrono::seconds(100)));
    JobInputs in;
    in.id = JobId{1};
    in.eligible = at(-100);
    const auto old = engine.insert(in);
    in.id = JobId{2};
    in.eligible = at(-10);
    in.association = 1;
    const auto young = engine.insert(in);
    const std::vector<double> factors{0., 500. / 1024};
    // 1000 against 100 + 10 t + 500: at 40 s both are 1000 and the smaller id is first; 1 more is rounded up 50 ms on.
    const auto found = crossings({engine, at(0), factors}, old, young, 10);
    REQUIRE(found.size() == 1);
    CHECK(found[0].ahead == young);
    CHECK(to_seconds(found[0].at) == Approx(40.05).margin(2e-6));
    CHECK(crossings({engine, at(41), factors}, old, young, 10).empty());
    CHECK(crossings({engine, at(0), factors}, young, old, 10).size() == 1);
}

TEST_CASE("crossings: jobs that age alike never pass each other") {
    PriorityEngine engine(aging(1000., std::chrono::seconds(100)));
    JobInputs in;
    in.id = JobId{1};
    in.eligible = at(0);
    const auto first = engine.insert(in);
    in.id = JobId{2};
    const auto second = engine.insert(in);
    CHECK(crossings({engine, at(0), {}}, first, second, 10).empty());
    in.eligible = never;
    in.urgency = 31;
    in.id = JobId{3};
    CHECK(crossings({engine, at(0), {}}, first, engine.insert(in), 10).empty());
}

TEST_CASE("crossings: a job that goes on ageing passes one that an earlier pass keeps up") {
    PrioritySettings s = aging(1000., std::chrono::seconds(1000));
    s.only_raises = true;
    PriorityEngine engine(s);
    JobInputs in;
    in.id = JobId{1};
    in.eligible = at(0);
    const auto kept = engine.insert(in);
    in.id = JobId{2};
    in.association = 1;
    const auto other = engine.insert(in);
    std::vector<PriorityEngine::Change> changed;
    engine.pass(at(0), std::vector<double>{500. / 1024, 0.}, changed);
    // 500 against t + 300 at `t`, and against t + 100 of its own sum: it is passed after 200 s and moves after 400 s.
    const std::vector<double> factors{100. / 1024, 300. / 1024};
    const auto found = crossings({engine, at(10), factors}, kept, other, 10);
    REQUIRE(found.size() == 1);
    CHECK(found[0].ahead == other);
    CHECK(to_seconds(found[0].at) == Approx(200.5).margin(2e-6));
}

// Kills: breakpoints without the maximum wait, or without the ceiling; a bisection that is off by one; a search that
// stops at the first change; a step of one job alone looked at.
// Mutant: libsched/priority/crossings.cpp: points.push_back(begin - tick); => (void)tick;
TEST_CASE("crossings: are those that looking at every microsecond finds") {
    draw::property("crossings = scan", [] {
        const auto number = [](int below) { return draw::in_range(0, below); };
        // Powers of two, so that every sum is exact and two different sums are at least one microsecond apart.
        const int weight = draw::element(0, 1, 2, 4, 8, 16, 32);
        const Duration wait_max{std::max(weight, 1) * draw::element(4, 8)};
        PrioritySettings s = aging(weight, wait_max);
        s.ceiling = static_cast<std::uint32_t>(draw::element(30, 1000000));
        s.only_raises = number(2) == 0;
        PriorityEngine engine(s);
        std::vector<PriorityEngine::Slot> slots;
        std::vector<double> factors;
        for (std::uint32_t i = 0; i < 2; i++) {
            JobInputs in;
            in.id = JobId{i};
            in.submit = Instant{Duration{number(2)}};
            in.eligible = Instant{Duration{number(150)}};
            in.association = i;
            in.urgency = static_cast<std::uint8_t>(number(12) == 0 ? 31 : 16);
            slots.push_back(engine.insert(in));
            factors.push_back(number(24) / 1024. + number(4) / 4096.);
        }
        std::vector<PriorityEngine::Change> changed;
        engine.pass(Instant{Duration{20}}, factors, changed);
        if (s.only_raises) {  // that pass keeps up whoever loses now
            for (double& factor : factors) {
                factor = number(24) / 1024. + number(4) / 4096.;
            }
        }
        const auto is_first_ahead = [&](Instant t) {
            const auto key = [&](std::size_t i) {
                return QueueKey{engine.priority(slots[i], t, factors), engine.inputs(slots[i]).submit, JobId{i}};
            };
            return key(0) < key(1);
        };
        const auto found = crossings({engine, Instant{Duration{20}}, factors}, slots[0], slots[1], 1000);
        std::size_t next = 0;
        for (std::int64_t t = 21; t < 600; t++) {
            const Instant now{Duration{t}};
            if (is_first_ahead(now) == is_first_ahead(now - Duration{1})) {
                continue;
            }
            RC_ASSERT(next < found.size());
            RC_ASSERT(found[next].at == now);
            RC_ASSERT(found[next].ahead == slots[is_first_ahead(now) ? 0 : 1]);
            next++;
        }
        RC_ASSERT(next == found.size());
    });
}
