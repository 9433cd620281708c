// SPDX-License-Identifier: LGPL-3.0-only
// The scaled clock and timers on it: a program of its own, since the clock is set once a process.
#include "broker/api/clock.hpp"

#include <flux/core.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <memory>
#include <vector>

using namespace weir::broker;

namespace {

constexpr double scale = 3600;  // an hour passes in a second
constexpr double begin_s = 1.7e9;
constexpr double clock_step_s = 1e-6 * scale;  // what doubles near 1.7e9 and the system clock resolve, generously

using Body = std::function<void(flux_watcher_t*)>;
void run_body(flux_reactor_t*, flux_watcher_t* w, int, void* arg) {
    (*static_cast<Body*>(arg))(w);
}

void set_clock_once() {
    static const bool is_set = [] {
        CHECK(clock_scale() == 1);
        CHECK(std::abs(clock_now() - wall_now()) < 1);
        set_clock(scale, begin_s - scale * (static_cast<double>(monotonic_ns()) / 1e9));
        CHECK(clock_now() >= begin_s - clock_step_s);
        CHECK(clock_now() < begin_s + 10 * scale);
        return true;
    }();
    (void)is_set;
}

struct Destroy {
    void operator()(flux_reactor_t* r) const { flux_reactor_destroy(r); }
    void operator()(flux_watcher_t* w) const { flux_watcher_destroy(w); }
};
using Reactor = std::unique_ptr<flux_reactor_t, Destroy>;
using Watcher = std::unique_ptr<flux_watcher_t, Destroy>;

}  // namespace

TEST_CASE("clock: it runs at its scale and never backwards") {
    set_clock_once();
    CHECK(real_delay(7200) == 2);
    const uint64_t real_begin = monotonic_ns();
    const double begin = clock_now();
    double last = begin;
    while (monotonic_ns() - real_begin < 5'000'000) {
        const double now = clock_now();
        REQUIRE(now >= last);
        last = now;
    }
    const double real_s = static_cast<double>(monotonic_ns() - real_begin) / 1e9;
    CHECK(clock_now() - begin >= 0.005 * scale - clock_step_s);
    CHECK(last - begin <= real_s * scale + clock_step_s);
}

TEST_CASE("timer: never early in scaled time, also far below a millisecond of real time") {
    set_clock_once();
    const Reactor r(flux_reactor_create(0));
    std::vector<Body> bodies;
    std::vector<Watcher> timers;
    int fired = 0;
    bool is_early = false;
    bodies.reserve(200);
    for (int i = 0; i < 200; ++i) {
        const double after = 0.1 * i;  // up to 20 scaled seconds: 5.6 real milliseconds
        const double due = clock_now() + after;
        bodies.push_back([&, due](flux_watcher_t*) {
            ++fired;
            is_early = is_early || flux_reactor_time() < due - clock_step_s;
        });
        timers.emplace_back(flux_timer_watcher_create(r.get(), after, 0, run_body, &bodies.back()));
        flux_watcher_start(timers.back().get());
    }
    CHECK(flux_reactor_run(r.get(), 0) == 0);
    CHECK(fired == 200);
    CHECK_FALSE(is_early);
}

TEST_CASE("timer: a repeat stays on its grid however late it is called") {
    set_clock_once();
    const Reactor r(flux_reactor_create(0));
    const double step = 7.2;  // 2 real milliseconds
    const double begin = clock_now();
    int fired = 0;
    double worst = 0;
    Body body = [&](flux_watcher_t* w) {
        const double late = std::fmod(clock_now() - begin, step);
        // Each call works for a quarter of the step: drift would move the calls by as much.
        const uint64_t until = monotonic_ns() + 500'000;
        while (monotonic_ns() < until) {
        }
        worst = std::fmax(worst, late);
        if (++fired == 12) {
            flux_watcher_stop(w);
        }
    };
    const Watcher timer(flux_timer_watcher_create(r.get(), step, step, run_body, &body));
    flux_watcher_start(timer.get());
    const double start_late = clock_now() - begin;
    CHECK(flux_reactor_run(r.get(), 0) == 0);
    // The phase never exceeds the lateness of one call; a drifting timer would pass through every phase.
    const double end = clock_now();
    CHECK(end - begin >= 12 * step - clock_step_s);
    CHECK(start_late < step);
    CHECK(fired == 12);
    INFO("worst phase " << worst << " of " << step);
}

TEST_CASE("periodic: on whole intervals of scaled time, or when the callback says") {
    set_clock_once();
    const Reactor r(flux_reactor_create(0));
    double at = 0;
    Body body = [&](flux_watcher_t* w) {
        at = clock_now();
        flux_watcher_stop(w);
    };
    const Watcher periodic(flux_periodic_watcher_create(r.get(), 1, 10, nullptr, run_body, &body));
    const double begin = clock_now();
    const double expected = std::floor((begin - 1) / 10) * 10 + 11;
    flux_watcher_start(periodic.get());
    CHECK(flux_reactor_run(r.get(), 0) == 0);
    CHECK(at >= expected - clock_step_s);
    const Watcher planned(flux_periodic_watcher_create(
        r.get(), 0, 0, [](flux_watcher_t*, double now, void*) { return now + 5; }, run_body, &body));
    const double again = clock_now();
    flux_watcher_start(planned.get());
    CHECK(flux_reactor_run(r.get(), 0) == 0);
    CHECK(at >= again + 5 - clock_step_s);
}

TEST_CASE("reactor time: now stands still within a turn, and moves with now_update") {
    set_clock_once();
    const Reactor r(flux_reactor_create(0));
    double first = 0;
    double second = 0;
    double updated = 0;
    Body body = [&](flux_watcher_t*) {
        first = flux_reactor_now(r.get());
        const uint64_t until = monotonic_ns() + 100'000;
        while (monotonic_ns() < until) {
        }
        second = flux_reactor_now(r.get());
        flux_reactor_now_update(r.get());
        updated = flux_reactor_now(r.get());
    };
    const Watcher timer(flux_timer_watcher_create(r.get(), 0, 0, run_body, &body));
    flux_watcher_start(timer.get());
    CHECK(flux_reactor_run(r.get(), 0) == 0);
    CHECK(first == second);
    CHECK(updated > second);
}
