// SPDX-License-Identifier: LGPL-3.0-only
#include "modules/job-priority/module/steady_time.hpp"

#include <catch2/catch.hpp>

#include "t/unit/job_priority/support.hpp"

using namespace weir;
using namespace weir::priority;
using namespace weir::priority::testing;

namespace {

constexpr Duration second = std::chrono::seconds(1);

Duration up(double seconds) {
    return duration_from_seconds(5000 + seconds);
}
/// The wall clock is `set` seconds off.
ClockReading reading(double t, double set = 0) {
    return {at(t + set), up(t)};
}
SteadyTime begun() {
    return {reading(0), Instant::min(), second, EventClock::wall};
}

}  // namespace

TEST_CASE("steady time: without a step it is the wall clock, and events bear their own times to the last digit") {
    SteadyTime time = begun();
    CHECK(time.look(reading(10)) == Duration{});
    CHECK(time.now() == at(10));
    CHECK(time.live(at(3.000001)) == at(3.000001));
    CHECK(time.live(at(2.5)) == at(2.5));              // a little out of order, as another thread may stamp
    CHECK(time.live(at(10.000007)) == at(10.000007));  // a little after now: two readings
}

// Kills: of two submissions the earlier one, which is later than an event may be, has the time of that event.
// Mutant: modules/job-priority/module/steady_time.hpp: likely(stamp, Instant::min()) => likely(stamp, last_live_)
TEST_CASE("steady time: submissions that the job-manager takes in late keep their order") {
    SteadyTime time = begun();
    (void)time.look(reading(10));
    CHECK(time.live(at(9.9)) == at(9.9));
    CHECK(time.submitted(at(8.5)) == at(8.5));
    CHECK(time.submitted(at(9.2)) == at(9.2));
    CHECK(time.live(at(9.95)) == at(9.95));
    (void)time.look(reading(12, -3600));
    CHECK(time.submitted(at(9.6)) == at(9.6));  // stamped before the step
    CHECK(time.submitted(at(11.7 - 3600)) == at(11.7));
    CHECK(time.live(at(12 - 3600)) == at(12));
    (void)time.look(reading(20, 36000));
    CHECK(time.submitted(at(18 - 3600)) == at(18));
    CHECK(time.submitted(at(19.5 + 36000)) == at(19.5));
    CHECK(time.submitted(at(99999)) == at(20));  // no clock said so
}

// Kills: a step not kept; kept with the wrong sign; found anew at each look.
TEST_CASE("steady time: over a step, forward or back, time goes on and durations are what they were") {
    const double set = GENERATE(-3600., 36000., 5.);
    SteadyTime time = begun();
    (void)time.look(reading(10));
    const Instant start = time.live(at(10));
    CHECK(time.look(reading(20, set)) == duration_from_seconds(set));
    CHECK(time.look(reading(30, set)) == Duration{});
    CHECK(time.now() == at(30));
    CHECK(time.live(at(30 + set)) - start == 20 * second);
    CHECK(time.ahead() == duration_from_seconds(set));
    CHECK(time.look(reading(40)) == duration_from_seconds(-set));
    CHECK(time.live(at(40)) == at(40));
}

// Kills: the steps before the last one not kept; the bounds left out.
TEST_CASE("steady time: an event stamped before a step and read after it is not off by the step") {
    SteadyTime time = begun();
    (void)time.look(reading(19));
    CHECK(time.live(at(19)) == at(19));
    (void)time.look(reading(20, -3600));
    CHECK(time.live(at(19.9)) == at(19.9));  // 3,600 s in the future by now
    (void)time.look(reading(21, 36000));
    CHECK(time.live(at(20.9 - 3600)) == at(20.9));  // ten hours in the past
    CHECK(time.live(at(20.8)) == at(20.9));         // two steps ago: not before the one before it
    CHECK(time.live(at(99999)) == at(21));          // no clock said so: not after now
    CHECK(time.past(at(36010)) == at(10));
    CHECK(time.past(at(99999)) == at(21));
}

// Kills: the bounds of the step left out; the nearer one not taken.
TEST_CASE("steady time: so is one that comes after a long time without events") {
    SteadyTime time = begun();
    (void)time.look(reading(10));
    CHECK(time.live(at(10)) == at(10));
    SECTION("the step is small: a stamp from after it would lie before the last look") {
        (void)time.look(reading(41));
        (void)time.look(reading(45, 8));
        CHECK(time.live(at(44.9)) == at(44.9));
        CHECK(time.live(at(45 + 8)) == at(45));
    }
    SECTION("both may be") {
        (void)time.look(reading(45, 8));
        CHECK(time.live(at(44.9)) == at(44.9));
        CHECK(time.live(at(44.95 + 8)) == at(44.95));
    }
    SECTION("it was stamped after the step and read late") {
        (void)time.look(reading(40));
        (void)time.look(reading(41, -5));
        (void)time.look(reading(47, -5));
        CHECK(time.live(at(42 - 5)) == at(42));
    }
}

// Mutant: modules/job-priority/module/steady_time.hpp: before <= step_until_ + watch_.step_min() => before <=
// step_until_
TEST_CASE("steady time: a drift of the wall clock until the step, which counts as part of it, does not matter") {
    SteadyTime time = begun();
    const double drift = 0.03;
    (void)time.look(reading(100, drift));
    CHECK(time.live(at(99 + drift)) == at(99 + drift));
    CHECK(time.look(reading(100.01, drift + 14)) != Duration{});
    CHECK(time.live(at(100.005 + drift)) == at(100.005 + drift));
}

TEST_CASE("steady time: it begins at the wall clock, but not before what was committed") {
    CHECK(SteadyTime(reading(10), at(5), second, EventClock::wall).now() == at(10));
    SteadyTime time(reading(10 - 3600), at(5), second, EventClock::wall);
    CHECK(time.now() == at(5));
    CHECK(time.look({at(11 - 3600), up(11 - 3600)}) == Duration{});
    CHECK(time.now() == at(6));
    CHECK(time.live(at(11 - 3600)) == at(6));
}

// Kills: stamps of the life before shifted by what the clock is short of.
TEST_CASE("steady time: a clock that begins a little before what was committed is waited for") {
    SteadyTime time(reading(9.25), at(10), second, EventClock::wall);
    CHECK(time.now() == at(10));
    CHECK(time.lag() == duration_from_seconds(0.75));
    CHECK(time.past(at(9)) == at(9));
    CHECK(time.look(reading(9.5)) == Duration{});
    CHECK(time.now() == at(10));
    CHECK(time.lag() == duration_from_seconds(0.5));
    CHECK(time.live(at(9.5)) == at(9.5));
    CHECK(time.ahead() == Duration{});
    CHECK(time.look(reading(12)) == Duration{});
    CHECK(time.now() == at(12));
    CHECK(time.lag() == Duration{});
    (void)time.look(reading(13, -3600));
    CHECK(time.lag() == Duration{});
}

// Kills: the jobs that a power failure ended are dated later by what the disk lost of the marks, and so charged for it.
// Mutant: modules/job-priority/module/steady_time.hpp: EventClock::instance ? 60 : 5 => EventClock::instance ? 5 : 5
TEST_CASE("steady time: the clock of an embedded broker is waited for, as far back as its last mark can be") {
    SteadyTime time(reading(70), at(100), second, EventClock::instance);
    CHECK(time.now() == at(100));
    CHECK(time.ahead() == Duration{});
    CHECK(time.past(at(69.5)) == at(69.5));
    (void)time.look(reading(72));
    CHECK(time.live(at(71)) == at(71));
    CHECK(time.lag() == 28 * second);
    (void)time.look(reading(101));
    CHECK(time.now() == at(101));
    CHECK(SteadyTime(reading(30), at(100), second, EventClock::instance).lag() == Duration{});  // it lost its mark
}

TEST_CASE("step watch: a step is told once, slewing is none until it adds up") {
    StepWatch watch(at(0), up(0));
    CHECK(watch.step(at(1.2), up(1)) == Duration{});
    CHECK(watch.step(at(2 - 3600), up(2)) == -3600 * second);
    CHECK(watch.step(at(3 - 3600), up(3)) == Duration{});
    CHECK(watch.step(at(4 + 10), up(4)) == 3610 * second);
    CHECK(watch.sum() == 10 * second);
    CHECK(watch.step(at(5 + 10.6), up(5)) == Duration{});
    CHECK(watch.step(at(6 + 11.2), up(6)) == duration_from_seconds(1.2));
}
