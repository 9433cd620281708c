// SPDX-License-Identifier: LGPL-3.0-only
// RouteTable's single reactions; any order of them together is in route_property_test.cpp, lost children in
// route_lost_test.cpp.
#include <catch2/catch.hpp>

#include "t/unit/job_route/route_scene.hpp"

using namespace weir::route;
using namespace weir::route::test;

TEST_CASE("attach: too early, a stranger, a job that does not run, no queue") {
    RouteTable table(false);
    run_host(table, host, 1000, {});
    CHECK(table.attach(an_attach(host), {0, true}).error().code == std::errc::resource_unavailable_try_again);
    table.synced();
    CHECK(table.attach(an_attach(host), {1001, false}).error().code == std::errc::operation_not_permitted);
    CHECK(table.attach(an_attach(other_host), {0, true}).error().code == std::errc::no_such_process);
    CHECK(
        table.attach(an_attach(host), {1000, false}).error().message ==
        "job 1 serves no queue: set [weir.route] serves in its configuration, or attributes.system.weir.serves in its "
        "jobspec");
    Attach attach = an_attach(host);
    attach.serves = {"batch"};
    CHECK(table.attach(attach, {1000, false}));
}

TEST_CASE("attach: a routed job is no child instance") {
    RouteTable table = with_a_job();
    record_alloc(table);
    CHECK(table.attach(an_attach(job), {0, true}).error().code == std::errc::no_such_process);
}

TEST_CASE("give: on record first, then the jobspec, then the child") {
    RouteTable table(false);
    table.synced();
    run_host(table, host);
    REQUIRE(table.attach(an_attach(host), {0, true}));
    enter(table, job);
    ParentActions asked = table.take();
    REQUIRE(asked.tap.size() == 1);
    CHECK(asked.tap[0].kind == TapOp::Kind::give);
    CHECK(asked.tap[0].child == host);
    CHECK(asked.fetch.empty());
    record_route(table, job, host);
    CHECK(table.take().fetch == std::vector<JobId>{job});
    table.jobspec_ready(job, "{\"a\":1}");
    const ParentActions sent = table.take();
    REQUIRE(sent.orders.size() == 1);
    CHECK(sent.orders[0].first == host);
    CHECK(sent.orders[0].second.kind == Order::Kind::submit);
    CHECK(sent.orders[0].second.jobspec == "{\"a\":1}");
    CHECK(sent.orders[0].second.userid == 7U);
}

TEST_CASE("give: what waited goes out by priority, then by age") {
    RouteTable table(false);
    table.synced();
    run_host(table, host);
    enter(table, JobId{101});
    enter(table, JobId{102});
    enter(table, JobId{103});
    JournalEvent higher = an_event(Kind::priority);
    higher.priority = 50;
    table.event(JobId{103}, higher);
    CHECK(table.waiting() == 3);
    REQUIRE(table.attach(an_attach(host), {0, true}));
    std::vector<std::uint64_t> order;
    for (const TapOp& op : table.take().tap) {
        order.push_back(op.id.value);
    }
    CHECK(order == std::vector<std::uint64_t>{103, 101, 102});
    CHECK(table.waiting() == 0);
}

TEST_CASE("give: to the child with the fewest jobs a core") {
    RouteTable table(false, 30, 32);
    table.synced();
    run_host(table, host);
    run_host(table, other_host);
    Attach small = an_attach(host);
    small.cores = 1;
    Attach big = an_attach(other_host);
    big.cores = 3;
    REQUIRE(table.attach(small, {0, true}));
    REQUIRE(table.attach(big, {0, true}));
    int to_big = 0;
    for (std::uint64_t id = 100; id < 140; id++) {
        enter(table, JobId{id});
        const ParentActions actions = table.take();
        REQUIRE(actions.tap.size() == 1);
        to_big += actions.tap[0].child == other_host ? 1 : 0;
    }
    CHECK(to_big == 30);
}

TEST_CASE("give: another user's child gets that user's jobs only, a held job stays") {
    RouteTable table(false);
    table.synced();
    run_host(table, host, 1000);
    REQUIRE(table.attach(an_attach(host), {1000, false}));
    enter(table, JobId{101}, 7);
    CHECK(table.take().tap.empty());
    enter(table, JobId{102}, 1000);
    CHECK(table.take().tap.size() == 1);
    enter(table, JobId{103}, 1000, "debug");
    CHECK(table.take().tap.empty());
    JournalEvent hold = an_event(Kind::urgency);
    hold.urgency = 0;
    JournalEvent submit = an_event(Kind::submit);
    submit.userid = 1000;
    submit.urgency = 0;
    JobFacts facts;
    facts.queue = "batch";
    table.submitted(JobId{104}, submit, facts);
    table.event(JobId{104}, an_event(Kind::bypass));
    table.event(JobId{104}, an_event(Kind::priority));
    CHECK(table.take().tap.empty());
    hold.urgency = 16;
    table.event(JobId{104}, hold);
    table.event(JobId{104}, an_event(Kind::priority));
    CHECK(table.take().tap.size() == 1);
}

TEST_CASE("give: refused by the plugin, the job can be given again") {
    RouteTable table(false);
    table.synced();
    run_host(table, host);
    REQUIRE(table.attach(an_attach(host), {0, true}));
    enter(table, job);
    (void)table.take();
    table.tap_failed(job, TapOp::Kind::give);
    table.event(job, an_event(Kind::priority));
    CHECK(table.take().tap.size() == 1);
}

TEST_CASE("not routed: without the flag, with an R of its own, a child instance, no queue") {
    RouteTable table(false);
    JobFacts facts;
    facts.queue = "batch";
    table.submitted(JobId{101}, an_event(Kind::submit), facts);
    CHECK_FALSE(table.is_routed(JobId{101}));
    facts.has_own_R = true;
    table.submitted(JobId{102}, an_event(Kind::submit), facts);
    table.event(JobId{102}, an_event(Kind::bypass));
    CHECK_FALSE(table.is_routed(JobId{102}));
    facts.has_own_R = false;
    facts.serves = {"batch"};
    table.submitted(JobId{103}, an_event(Kind::submit), facts);
    table.event(JobId{103}, an_event(Kind::bypass));
    CHECK_FALSE(table.is_routed(JobId{103}));
}

TEST_CASE("go: only once the allocation is on record") {
    RouteTable table = with_a_job();
    REQUIRE(table.report(a_report(ChildEvent::Kind::allocated)));
    const ParentActions asked = table.take();
    REQUIRE(asked.tap.size() == 1);
    CHECK(asked.tap[0].kind == TapOp::Kind::alloc);
    CHECK(asked.orders.empty());
    record_alloc(table);
    const ParentActions done = table.take();
    REQUIRE(done.orders.size() == 1);
    CHECK(done.orders[0].second.kind == Order::Kind::go);
}

TEST_CASE("go: in the middle of a tree it waits for the instance above") {
    RouteTable table(true);
    table.synced();
    run_host(table, host);
    REQUIRE(table.attach(an_attach(host), {0, true}));
    (void)table.take();
    JobFacts facts;
    facts.queue = "batch";
    facts.upstream = 55;
    facts.upstream_userid = 9;
    table.submitted(job, an_event(Kind::submit), facts);
    table.event(job, an_event(Kind::bypass));
    table.event(job, an_event(Kind::priority));
    record_route(table, job, host);
    table.jobspec_ready(job, "{}");
    CHECK(table.take().orders.at(0).second.userid == 9U);
    record_alloc(table);
    CHECK(table.take().orders.empty());
    table.allow_go(job);
    CHECK(table.take().orders.at(0).second.kind == Order::Kind::go);
}

TEST_CASE("a child dies: what was allocated is lost, what was not goes to another") {
    RouteTable table = with_a_job();
    run_host(table, other_host);
    REQUIRE(table.attach(an_attach(other_host), {0, true}));
    SECTION("allocated") {
        record_alloc(table);
        (void)table.take();
        table.event(host, an_event(Kind::finish));
        const ParentActions actions = table.take();
        REQUIRE(actions.tap.size() == 2);
        CHECK(actions.tap[0].kind == TapOp::Kind::exception);
        CHECK(actions.tap[0].type == "child-lost");
        CHECK(actions.tap[1].kind == TapOp::Kind::clean);
    }
    SECTION("not allocated") {
        table.event(host, an_event(Kind::finish));
        const ParentActions actions = table.take();
        REQUIRE(actions.tap.size() == 1);
        CHECK(actions.tap[0].kind == TapOp::Kind::give);
        CHECK(actions.tap[0].child == other_host);
    }
}

TEST_CASE("attach again: known jobs stay, unknown ones are sent again, unwanted ones are cancelled") {
    RouteTable table = with_a_job();
    table.detach(host, "s");
    Attach again = an_attach(host, "t");
    SECTION("known, with an old urgency") {
        again.known = {{job, false, 3}};
        REQUIRE(table.attach(again, {0, true}));
        const ParentActions actions = table.take();
        CHECK(actions.fetch.empty());
        REQUIRE(actions.orders.size() == 3);
        CHECK(actions.orders[0].second.kind == Order::Kind::urgency);
        CHECK(actions.orders[0].second.urgency == 16);
        CHECK(actions.orders[1].second.kind == Order::Kind::priority);
        CHECK(actions.orders[1].second.priority == 16);
        CHECK(actions.orders[2].second.kind == Order::Kind::complete);
    }
    SECTION("known as what it was before it was given to the child: sent again after that copy's end") {
        again.known = {{job, true, 16, true}};
        REQUIRE(table.attach(again, {0, true}));
        Report old = a_report(ChildEvent::Kind::allocated, 1);
        old.session = "t";
        REQUIRE(table.report(old));
        CHECK(table.take().tap.empty());
        old = a_report(ChildEvent::Kind::cleaned, 2);
        old.session = "t";
        REQUIRE(table.report(old));
        CHECK(table.take().fetch == std::vector<JobId>{job});
    }
    SECTION("unknown") {
        REQUIRE(table.attach(again, {0, true}));
        CHECK(table.take().fetch == std::vector<JobId>{job});
    }
    SECTION("unknown, though it was allocated") {
        record_alloc(table);
        REQUIRE(table.attach(again, {0, true}));
        CHECK(table.take().tap.at(0).type == "child-lost");
    }
    SECTION("unwanted") {
        again.known = {{job, false, 16}, {JobId{999}, false, 16}, {JobId{998}, true, 16}};
        REQUIRE(table.attach(again, {0, true}));
        const ParentActions actions = table.take();
        REQUIRE(actions.orders.size() == 3);
        CHECK(actions.orders[1].second.kind == Order::Kind::cancel);
        CHECK(actions.orders[1].second.id == JobId{999});
    }
}

/// A child that attaches with a copy of a job that waits here: the job is not given to it.
static RouteTable with_an_old_copy(bool has_ended) {
    RouteTable table(false);
    table.synced();
    run_host(table, host);
    enter(table, job);
    Attach attach = an_attach(host);
    attach.known = {{job, has_ended, 16}};
    REQUIRE(table.attach(attach, {0, true}));
    CHECK(table.take().tap.empty());
    return table;
}

TEST_CASE("attach: an old copy of a job has to end before the job is given to that child") {
    RouteTable table = with_an_old_copy(true);
    CHECK(table.waiting() == 1);
    REQUIRE(table.report(a_report(ChildEvent::Kind::allocated, 1)));
    CHECK(table.take().tap.empty());
    REQUIRE(table.report(a_report(ChildEvent::Kind::cleaned, 2)));
    CHECK(table.take().tap.size() == 1);
}

// A child that shut down while the plugin refused to end the copy's prolog said no more than `returned`, and the job
// waited for ever.
TEST_CASE("attach: an old copy that the child returns is over, whether or not the child says that it is cleaned") {
    RouteTable table = with_an_old_copy(false);
    REQUIRE(table.report(a_report(ChildEvent::Kind::returned, 1)));
    CHECK(table.take().tap.size() == 1);
    record_route(table, job, host);
    table.jobspec_ready(job, "{}");
    CHECK(table.take().orders.at(0).second.kind == Order::Kind::submit);
    REQUIRE(table.report(a_report(ChildEvent::Kind::cleaned, 2)));  // of the old copy: the new one waits
    const ParentActions actions = table.take();
    CHECK((actions.tap.empty() && actions.orders.empty()));
    CHECK(table.waiting() == 0);
}

TEST_CASE("an allocation that comes on record when its child no longer has the job: the job is lost") {
    RouteTable table = with_a_job();
    table.detach(host, "s");
    REQUIRE(table.attach(an_attach(host, "t"), {0, true}));
    CHECK(table.take().fetch == std::vector<JobId>{job});
    record_alloc(table);
    const auto tap = table.take().tap;
    REQUIRE(tap.size() == 2);
    CHECK(tap[0].type == "child-lost");
    CHECK(tap[1].kind == TapOp::Kind::clean);
}

TEST_CASE("a prolog that is closed on record is not closed again") {
    RouteTable table = with_a_job();
    record_alloc(table);
    JournalEvent closed = an_event(Kind::prolog_finish);
    closed.type = mirror_prolog;
    table.event(job, closed);
    (void)table.take();
    REQUIRE(table.report(a_report(ChildEvent::Kind::cleaned)));
    CHECK(table.take().tap.empty());
}

TEST_CASE("priority: the child that has the job hears of each change, until the job has resources") {
    RouteTable table = with_a_job();
    JournalEvent change = an_event(Kind::priority);
    change.priority = 99;
    table.event(job, change);
    const auto orders = table.take().orders;
    REQUIRE(orders.size() == 1);
    CHECK(orders[0].first == host);
    CHECK(orders[0].second.kind == Order::Kind::priority);
    CHECK(orders[0].second.priority == 99);
    table.event(job, change);
    CHECK(table.take().orders.empty());
}

TEST_CASE("a limit: a job that it holds back is with no child") {
    RouteTable table = with_a_job();
    JournalEvent none = an_event(Kind::priority);
    none.priority = 0;
    SECTION("its copy waits: the copy is cancelled, and the job is given again when the limit allows it") {
        table.event(job, none);
        const ParentActions actions = table.take();
        REQUIRE(actions.orders.size() == 1);
        CHECK(actions.orders[0].second.kind == Order::Kind::cancel);
        CHECK(table.find(job)->child == JobId{});
        table.event(job, an_event(Kind::priority));
        CHECK(table.take().tap.empty());  // not before the end of that copy
        REQUIRE(table.report(a_report(ChildEvent::Kind::cleaned)));
        CHECK(table.take().tap.at(0).kind == TapOp::Kind::give);
    }
    SECTION("its allocation is on its way to the record: the plugin says which was first") {
        REQUIRE(table.report(a_report(ChildEvent::Kind::allocated)));
        (void)table.take();
        table.event(job, none);
        CHECK(table.take().orders.empty());
        record_route(table, job, JobId{});
        CHECK(table.take().orders.at(0).second.kind == Order::Kind::cancel);
        CHECK(table.find(job)->child == JobId{});
    }
    SECTION("it was on its way to the child: it is never sent") {
        RouteTable fresh(false);
        fresh.synced();
        run_host(fresh, host);
        REQUIRE(fresh.attach(an_attach(host), {0, true}));
        enter(fresh, job);
        fresh.event(job, none);
        record_route(fresh, job, host);
        const ParentActions actions = fresh.take();
        CHECK(actions.fetch.empty());
        CHECK(fresh.find(job)->child == JobId{});
    }
}

TEST_CASE("complete: a child hears it once a session, behind everything that it is to have") {
    RouteTable table(false);
    table.synced();
    run_host(table, host);
    enter(table, job);
    enter(table, JobId{job.value + 1});
    REQUIRE(table.attach(an_attach(host), {0, true}));
    CHECK(table.take().orders.empty());
    record_route(table, job, host);
    record_route(table, JobId{job.value + 1}, host);
    table.jobspec_ready(job, "{}");
    CHECK(table.take().orders.size() == 1);
    SECTION("the last one is sent") {
        table.jobspec_ready(JobId{job.value + 1}, "{}");
        const auto orders = table.take().orders;
        REQUIRE(orders.size() == 2);
        CHECK(orders[0].second.kind == Order::Kind::submit);
        CHECK(orders[1].second.kind == Order::Kind::complete);
    }
    SECTION("the last one is over") {
        table.event(JobId{job.value + 1}, an_event(Kind::exception));
        table.event(JobId{job.value + 1}, an_event(Kind::clean));
        CHECK(table.take().orders.back().second.kind == Order::Kind::complete);
    }
}

TEST_CASE("cancel: goes down once, and not back to where it came from") {
    RouteTable table = with_a_job();
    JournalEvent cancel = an_event(Kind::exception);
    cancel.type = "cancel";
    cancel.note = "why";
    SECTION("the user's") {
        table.event(job, cancel);
        table.event(job, cancel);
        const ParentActions actions = table.take();
        REQUIRE(actions.orders.size() == 1);
        CHECK(actions.orders[0].second.note == "why");
    }
    SECTION("the child's own") {
        ChildEvent failed;
        failed.seq = 1;
        failed.id = job;
        failed.kind = ChildEvent::Kind::exception;
        failed.type = "timeout";
        REQUIRE(table.report({host, "s", {failed}}));
        CHECK(table.take().tap.at(0).type == "timeout");
        table.event(job, cancel);
        CHECK(table.take().orders.empty());
    }
}

TEST_CASE("the own scheduler was faster: the child's copy is cancelled and the job is none of ours") {
    RouteTable table = with_a_job();
    record_alloc(table, JobId{0});
    const ParentActions actions = table.take();
    REQUIRE(actions.orders.size() == 1);
    CHECK(actions.orders[0].second.kind == Order::Kind::cancel);
    CHECK_FALSE(table.is_routed(job));
}

TEST_CASE("the own scheduler was faster than a give that is not on record: the child does not count the job") {
    RouteTable table(false);
    table.synced();
    run_host(table, host);
    REQUIRE(table.attach(an_attach(host), {0, true}));
    enter(table, job);
    (void)table.take();
    CHECK(table.children().at(0).pending == 1);
    record_alloc(table, JobId{0});
    CHECK(table.children().at(0).pending == 0);
    table.event(job, an_event(Kind::clean));
    CHECK(table.children().at(0).running == 0);
    CHECK(table.children().at(0).pending == 0);
}

TEST_CASE("views: pending, running, done; R of the host") {
    RouteTable table = with_a_job();
    CHECK(table.children().at(0).pending == 1);
    record_alloc(table);
    CHECK(table.children().at(0).running == 1);
    CHECK(table.R_of(host) == "the host's R");
    table.event(job, an_event(Kind::finish));
    table.event(job, an_event(Kind::clean));
    CHECK(table.children().at(0).done == 1);
    CHECK(table.children().at(0).running == 0);
    CHECK(table.find(job).error().message == "job 100 is not an active routed job");
    CHECK(table.job_count() == 1U);
}

TEST_CASE("an unreadable jobspec ends the job with a reason") {
    RouteTable table(false);
    table.synced();
    run_host(table, host);
    REQUIRE(table.attach(an_attach(host), {0, true}));
    enter(table, job);
    record_route(table, job, host);
    (void)table.take();
    table.fetch_failed(job, "no such key");
    CHECK(table.take().tap.at(0).note == "its jobspec cannot be read: no such key");
}

TEST_CASE("an allocation that makes no sense ends the job with the reason, and its copy") {
    RouteTable table = with_a_job();
    REQUIRE(table.report(a_report(ChildEvent::Kind::allocated), [](const std::string&) -> weir::Result<std::string> {
        return weir::Error{std::errc::invalid_argument, "R: no sense"};
    }));
    const auto asked = table.take().tap;
    REQUIRE(asked.size() == 1);
    CHECK(asked[0].kind == TapOp::Kind::exception);
    CHECK(asked[0].note == "the child instance reported invalid resources: R: no sense");
    end_cancels_copy(table, "route");
}
