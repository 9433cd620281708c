// SPDX-License-Identifier: LGPL-3.0-only
// RouteTable and the time: children that are lost, and jobs that a child gave back.
#include <catch2/catch.hpp>

#include "t/unit/job_route/route_scene.hpp"

using namespace weir::route;
using namespace weir::route::test;

TEST_CASE("a link that is lost is not a death: the job stays with the child") {
    RouteTable table = with_a_job();
    run_host(table, other_host);
    REQUIRE(table.attach(an_attach(other_host), {0, true}));
    table.detach(host, "s");
    CHECK(table.take().tap.empty());
    CHECK(table.find(job)->child == host);
}

TEST_CASE("a child that stays lost: what has no resources moves on, what has them stays, and it takes time") {
    RouteTable table = with_a_job();
    run_host(table, other_host);
    REQUIRE(table.attach(an_attach(other_host), {0, true}));
    table.detach(host, "s");
    CHECK(table.needs_ticks());
    SECTION("unstarted") {
        for (int i = 0; i < 29; i++) {
            table.tick();
        }
        CHECK(table.take().tap.empty());
        CHECK(table.children().at(0).lost_ticks == 29);
        table.tick();
        CHECK(table.take().tap.at(0).child == other_host);
        record_route(table, job, other_host);
        Attach again = an_attach(host, "t");
        again.known = {{job, false, 16}};
        REQUIRE(table.attach(again, {0, true}));
        const ParentActions actions = table.take();
        REQUIRE(actions.orders.size() == 2);
        CHECK(actions.orders[0].first == host);
        CHECK(actions.orders[0].second.kind == Order::Kind::cancel);
        CHECK(actions.orders[1].second.kind == Order::Kind::complete);
        CHECK(table.children().at(0).lost_ticks == 0);
    }
    SECTION("allocated") {
        record_alloc(table);
        for (int i = 0; i < 100; i++) {
            table.tick();
        }
        CHECK(table.take().tap.empty());
        CHECK(table.find(job)->child == host);
    }
}

// Mutant: modules/job-route/route_report.cpp: child->silent_ticks = 0; =>
// Mutant: modules/job-route/route_children.cpp: ++child.silent_ticks > patience_ => ++child.silent_ticks >= patience_
TEST_CASE("a child that is silent though its link is up counts as lost; a report without events keeps it") {
    RouteTable table = with_a_job();
    run_host(table, other_host);
    REQUIRE(table.attach(an_attach(other_host), {0, true}));
    const auto seconds = [&table](int count) {
        for (int i = 0; i < count; i++) {
            REQUIRE(table.report({other_host, "s", {}, 1, 4}));  // it has no room
            table.tick();
        }
        return table.take();
    };
    REQUIRE(table.needs_ticks());
    CHECK(seconds(29).silent.empty());
    REQUIRE(table.report({host, "s", {}}));
    CHECK(seconds(30).silent.empty());
    const ParentActions lost = seconds(1);
    CHECK(lost.silent == std::vector<JobId>{host});
    CHECK(lost.tap.at(0).child == other_host);
    CHECK_FALSE(table.children().at(0).is_attached);
    CHECK(table.children().at(0).lost_ticks == 31);
    CHECK(table.child_without_counts(host)->lost_ticks == 31);
    CHECK_FALSE(table.child_without_counts(JobId{999}));
    CHECK(table.children().at(1).is_attached);
    CHECK_FALSE(table.report({host, "s", {}}));  // it has to attach again
    REQUIRE(table.attach(an_attach(host, "t"), {0, true}));
    CHECK(table.children().at(0).is_attached);
    CHECK(seconds(1).silent.empty());
}

TEST_CASE("returned: not to the same child in the same session, to another at once") {
    RouteTable table = with_a_job();
    REQUIRE(table.report(a_report(ChildEvent::Kind::returned)));
    CHECK(table.take().tap.empty());
    CHECK(table.waiting() == 1);
    run_host(table, other_host);
    REQUIRE(table.attach(an_attach(other_host), {0, true}));
    CHECK(table.take().tap.at(0).child == other_host);
}

TEST_CASE("returned: a child that accepts nothing is asked less and less often") {
    RouteTable table = with_a_job();
    std::uint64_t seq = 0;
    /// The seconds until the job is given again.
    const auto pause_after = [&](ChildEvent::Kind kind) {
        REQUIRE(table.report(a_report(kind, ++seq)));
        if (kind != ChildEvent::Kind::returned) {
            REQUIRE(table.report(a_report(ChildEvent::Kind::returned, ++seq)));
        }
        int seconds = 0;
        while (table.take().tap.empty()) {
            table.tick();
            seconds += 1;
            REQUIRE(table.report({host, "s", {}}));
        }
        record_route(table, job, host);
        return seconds;
    };
    CHECK(pause_after(ChildEvent::Kind::returned) == 30);
    CHECK(pause_after(ChildEvent::Kind::returned) == 60);
    for (int i = 0; i < 10; i++) {
        (void)pause_after(ChildEvent::Kind::returned);
    }
    CHECK(pause_after(ChildEvent::Kind::returned) == 32 * 30);
    CHECK(pause_after(ChildEvent::Kind::accepted) == 30);
    CHECK(pause_after(ChildEvent::Kind::returned) == 60);
}

TEST_CASE("returned: to the child again when it takes another job, but not in the same second") {
    constexpr JobId other{101};
    RouteTable table = with_a_job();
    enter(table, other);
    record_route(table, other, host);
    table.jobspec_ready(other, "{}");
    (void)table.take();
    Report taken = a_report(ChildEvent::Kind::accepted, 2);
    taken.events[0].id = other;
    REQUIRE(table.report(a_report(ChildEvent::Kind::returned)));
    SECTION("a second later") {
        table.tick();
        REQUIRE(table.report(taken));
        const auto tap = table.take().tap;
        REQUIRE(tap.size() == 1);
        CHECK((tap[0].id == job && tap[0].child == host));
    }
    SECTION("at once") {
        REQUIRE(table.report(taken));
        CHECK(table.take().tap.empty());
    }
}

// Kills: a guest's child has a job given again as often as it attaches.
TEST_CASE("returned: not to the same child in a new session, unless it is the owner's") {
    const auto is_given_again = [](const Caller& caller) {
        RouteTable table = with_a_job(caller);
        REQUIRE(table.report(a_report(ChildEvent::Kind::returned)));
        REQUIRE(table.attach(an_attach(host, "t"), caller));
        return !table.take().tap.empty();
    };
    CHECK(is_given_again({0, true}));
    CHECK_FALSE(is_given_again({7, false}));
}

TEST_CASE("returned: to the only child that serves the queue, after a while") {
    RouteTable table = with_a_job();
    REQUIRE(table.report(a_report(ChildEvent::Kind::returned)));
    for (int i = 0; i < 29; i++) {
        table.tick();
    }
    CHECK(table.take().tap.empty());
    table.tick();
    CHECK(table.take().tap.at(0).child == host);
}

TEST_CASE("recalled before this side began anew, and not over yet: the copy's end is not the job's") {
    RouteTable table = with_a_job();
    table.detach(host, "s");
    Attach again = an_attach(host, "t");
    again.known = {{job, false, 16, true}};
    REQUIRE(table.attach(again, {0, true}));
    Report old = a_report(ChildEvent::Kind::exception, 1);
    old.session = "t";
    REQUIRE(table.report(old));
    CHECK(table.take().tap.empty());
    old = a_report(ChildEvent::Kind::cleaned, 2);
    old.session = "t";
    REQUIRE(table.report(old));
    CHECK(table.take().fetch == std::vector<JobId>{job});
}
