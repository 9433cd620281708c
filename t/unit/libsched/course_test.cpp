// SPDX-License-Identifier: LGPL-3.0-only
// When one job passes another under the policies that are no sum of factors, against asking them second by second.
#include "libsched/order/course.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "libfairshare/toml/share_tree_toml.hpp"
#include "libsched/order/load_threshold_priorities.hpp"
#include "libsched/order/lsf_ranking.hpp"
#include "libsched/order/moab_priorities.hpp"
#include "t/unit/draws.hpp"
#include "t/unit/libsched/workload.hpp"

using namespace weir;
using test::at;

namespace {

const MoabPriorities::Usage unused;
constexpr Duration a_tick{1};

Course placed(Course course, std::uint64_t place) {
    course.id = JobId{place};
    return course;
}

double compared(const Course& course, Instant t) {
    return course.is_rounded ? std::round(course.number(t)) : course.number(t);
}

/// Two numbers so near that a bit of a sum may decide; rounded ones also when they are 1 apart.
bool is_near(const Course& a, const Course& b, Instant t) {
    const double gap = std::abs(a.number(t) - b.number(t));
    return gap < 1e-4 || (a.is_rounded && std::abs(gap - 1) < 1e-4);
}

/// Those found are what the courses say at each whole second, and at each found instant itself.
void same_as_stepping(const Course& a, const Course& b, Instant now, int seconds) {
    constexpr std::size_t limit = 2000;
    const Passings found = passings(a, b, now, now + std::chrono::seconds(seconds), limit);
    const auto is_first = [&](Instant t) {
        const double mine = compared(a, t), other = compared(b, t);
        return mine != other ? mine > other : a.id < b.id;
    };
    // It may end early where so many passed, or where two that go alike are hardly to be told apart.
    const Instant until = found.until;
    RC_ASSERT(until <= now + std::chrono::seconds(seconds));
    if (until < now + std::chrono::seconds(seconds) && found.list.size() < limit) {
        RC_ASSERT(std::abs(a.number(until) - b.number(until)) < 1.0001);
    }
    RC_ASSERT(found.is_first_now == is_first(now));
    bool is_first_now = found.is_first_now;
    std::size_t next = 0;
    const auto pass_until = [&](Instant t) {
        for (; next < found.list.size() && found.list[next].at <= t; next++) {
            const Passing& passing = found.list[next];
            RC_ASSERT(passing.at > now);
            RC_ASSERT(passing.is_first != is_first_now);
            RC_ASSERT(is_first(passing.at) == passing.is_first);
            RC_ASSERT(is_first(passing.at - a_tick) != passing.is_first);
            is_first_now = passing.is_first;
        }
    };
    for (Instant t = now; t <= until; t += std::chrono::seconds(1)) {
        pass_until(t);
        if (is_first(t) != is_first_now) {
            RC_ASSERT(is_near(a, b, t));
        }
    }
    pass_until(until);  // where a number rises steeply, as many as the limit may lie within a second
    RC_ASSERT(next == found.list.size());
}

double some(int most, int parts) {
    return draw::in_range(-most * parts / 4, most * parts) / static_cast<double>(parts);
}

MoabPolicy::Part part(int most) {
    return {draw::element(0, 1, 1) * some(most, 8), draw::element(0., 0., 3., 12.5)};
}

}  // namespace

TEST_CASE("course: a short job's expansion factor overtakes a long one's minutes, to the microsecond") {
    PolicySettings settings;
    settings.moab.part(MoabComponent::service, "xfactor") = {60, 4};
    MoabPriorities moab(settings);
    MoabPriorities::Job job;
    job.limit = std::chrono::hours(1);
    job.since = at(-20 * 60);
    moab.put(JobId{0}, job);
    job.limit = std::chrono::minutes(10);
    job.since = at(0);
    moab.put(JobId{1}, job);
    // 20 + t + 60 + 20 + t against t + 60 + 6 t, minutes: both equal at 40 / 5 = 8, rounded 0.5 apart about then.
    const Course a = placed(moab.course(JobId{0}, unused), 0);
    const Course b = placed(moab.course(JobId{1}, unused), 1);
    const Passings found = passings(a, b, at(0), at(0) + std::chrono::hours(24), 1000);
    REQUIRE(!found.list.empty());
    CHECK(found.is_first_now);
    CHECK(to_seconds(found.list.front().at) == Approx(8 * 60).margin(15));
    // The short one's factor is at its cap of 4 after 30 minutes, the long one's after 3 hours: that, and 20 minutes
    // more, bring it back: 20 + t + 60 (1 + (20 + t) / 60) = t + 240 at t = 140.
    CHECK(found.list.back().is_first);
    CHECK(to_seconds(found.list.back().at) == Approx(140 * 60).margin(60));
    CHECK(found.until == at(0) + std::chrono::hours(24));
}

TEST_CASE("course: jobs that age alike never pass each other, and what is asked ends at the limit") {
    MoabPriorities moab{PolicySettings{}};
    MoabPriorities::Job job;
    job.since = at(0);
    moab.put(JobId{0}, job);
    moab.put(JobId{1}, job);
    job.since = at(-30);
    moab.put(JobId{2}, job);
    const auto of = [&](std::uint64_t id) { return placed(moab.course(JobId{id}, unused), id); };
    const Instant until = at(100000000);
    CHECK(passings(of(0), of(1), at(0), until, 10).list.empty());
    // Half a point more, but later: each rounding up of the other ties them.
    const Passings often = passings(of(0), of(2), at(0), until, 10);
    CHECK(often.list.size() == 10);
    CHECK(often.until == often.list.back().at);
    const Course still = constant_course(100, {}, JobId{9});
    CHECK(passings(still, constant_course(100, {}, JobId{8}), at(0), never, 10).list.empty());
    const Passings once = passings(still, of(0), at(0), until, 10);
    REQUIRE(once.list.size() == 1);
    CHECK(to_seconds(once.list[0].at) == Approx(99.5 * 60));  // then both are 100, and 0 is the smaller id
}

// Kills: a cap of a part or of a component that lets it rise on; a slope taken as the same on both sides of a cap; what
// a target's nearness gains taken at one end of the stretch; negative weights with the bounds the same way round; steps
// of one job alone looked at; a bisection that is off by one; numbers not rounded, or jobs rounded to the same taken
// for apart.
TEST_CASE("course: Moab's passings are those of stepping second by second") {
    draw::property("passings = stepping", [] {
        PolicySettings settings;
        settings.moab.allows_negative = draw::arbitrary<bool>();
        settings.moab.xfactor_shortest = std::chrono::seconds(draw::in_range(1, 400));
        settings.moab.part(MoabComponent::service, "queue-time") = part(8);
        settings.moab.part(MoabComponent::service, "xfactor") = part(16);
        settings.moab.part(MoabComponent::target, "queue-time") = part(16);
        settings.moab.part(MoabComponent::target, "xfactor") = part(2);
        settings.moab.part(MoabComponent::credential, "user").weight = 1;
        for (const MoabComponent which : {MoabComponent::service, MoabComponent::target}) {
            auto& component = settings.moab.components[static_cast<std::size_t>(which)];
            component.cap = draw::element(0., 0., 10., 40.);
            component.weight = draw::element(1., 1., 2.5, -1.);
        }
        for (const char* user : {"a", "b"}) {
            MoabPolicy::Credential& credential = settings.moab.credentials[0][user];
            credential.priority = draw::in_range(-10, 20);
            credential.queue_time = std::chrono::seconds(draw::in_range(0, 1500));
            credential.xfactor = draw::element(0., 1.5, 3.);
        }
        MoabPriorities moab(settings);
        for (std::uint64_t id = 0; id < 2; id++) {
            const std::vector<std::string> names{id == 0 ? "a" : "b"};
            MoabPriorities::Job job;
            job.who[0] = moab.add_credential(0, names);
            job.since = at(-draw::in_range(0, 600)) - a_tick * draw::in_range(0, 1000000);
            job.limit = std::chrono::seconds(draw::in_range(0, 3000));
            moab.put(JobId{id}, job);
        }
        const Course a = placed(moab.course(JobId{0}, unused), 0);
        const Course b = placed(moab.course(JobId{1}, unused), 1);
        for (const int t : {0, 60, 599}) {
            RC_ASSERT(compared(a, at(t)) == moab.update_value(JobId{0}, unused, at(t)));
        }
        same_as_stepping(a, b, at(0), 1200);
    });
}

// Kills: steps of one job alone looked at.
TEST_CASE("course: the load threshold's passings are those of stepping second by second") {
    draw::property("passings = stepping", [] {
        PolicySettings settings;
        settings.load_threshold.rule.per_minute = draw::element(0., 0.01, 1., 50000.);
        settings.load_threshold.rule.score_min = draw::element(0., 0.25);
        settings.queues = {{"x", some(4, 4096)}, {"y", some(4, 4096)}};
        if (draw::in_range(0, 4) == 0) {
            settings.queues["y"] = static_cast<double>(priority_max) / load_threshold_scale - draw::in_range(0, 500000);
        }
        LoadThresholdPriorities load(settings, 16);
        load.use(draw::in_range(0, 17), at(0));
        load.put(JobId{0}, "x", at(0));
        load.put(JobId{1}, "y", at(draw::in_range(0, 300)));
        const Course a = placed(load.course(JobId{0}), draw::in_range<std::uint64_t>(0, 3));
        const Course b = placed(load.course(JobId{1}), 1);
        RC_PRE(a.id != b.id);
        RC_ASSERT(compared(a, at(400)) == load.value(JobId{0}, at(400)));
        same_as_stepping(a, b, at(300), 900);
    });
}

TEST_CASE("passings: two numbers a rounding apart do not pass each other until the end of time") {
    const Course behind = constant_course(4.6, at(0), JobId{2});
    const Course ahead = constant_course(5, at(0), JobId{1});
    const Passings found = passings(ahead, behind, at(60), Instant::max(), 10);
    CHECK(found.is_first_now);
    CHECK(found.list.empty());
    CHECK(found.until == Instant::max());
}

// Kills: a grace period that ends at its last instant instead of after it; those of subfactors left out; sums compared
// by their nearest whole numbers.
TEST_CASE("course: under APS the passings are those of stepping second by second") {
    draw::property("passings = stepping", [] {
        PolicySettings settings;
        settings.lsf.aps.emplace();
        for (ApsRule::Part& one : settings.lsf.aps->parts) {
            one = {some(2, 4), draw::element(0., 3.), std::chrono::seconds(draw::element(0, 30, 200, 450))};
        }
        const auto tree = parse_share_tree("\"a\" = 1\n\"a/@x\" = 1\n");
        const LsfRanking::Use use{std::get<ShareTree>(tree), {}};
        LsfRanking ranking(settings);
        for (std::uint64_t id = 0; id < 2; id++) {
            LsfRanking::Job job;
            job.place = id;
            job.queue = ranking.queue("q");
            job.since = at(-draw::in_range(0, 300)) + a_tick * draw::in_range(0, 2);
            job.slots = draw::in_range<std::uint32_t>(1, 4);
            job.job_priority = draw::in_range(0, 3);
            job.memory_mib = draw::in_range(0, 3);
            job.admin = draw::element(0., 0.25);
            ranking.put(JobId{id}, job);
        }
        same_as_stepping(placed(*ranking.course(JobId{0}, use), 0), placed(*ranking.course(JobId{1}, use), 1), at(0),
                         600);
    });
}
