// SPDX-License-Identifier: LGPL-3.0-only
// RouteTable and the queues of jobs: a queue that is stopped, and a job whose queue changes.
#include <algorithm>
#include <catch2/catch.hpp>

#include "t/unit/job_route/route_scene.hpp"

using namespace weir::route;
using namespace weir::route::test;

namespace {

/// One attached child of two queues.
RouteTable with_two_queues() {
    RouteTable table(false);
    table.synced();
    run_host(table, host, 0, {"batch", "debug"});
    REQUIRE(table.attach(an_attach(host), {0, true}));
    (void)table.take();
    return table;
}

/// The child that the next actions give the job to; 0: none.
JobId next_of(RouteTable& table, JobId id) {
    JobId child;
    for (const TapOp& op : table.take().tap) {
        if (op.kind == TapOp::Kind::give && op.id == id) {
            record_route(table, id, op.child);
            table.jobspec_ready(id, "{}");
            child = op.child;
        }
    }
    (void)table.take();
    return child;
}

void is_recalled(const ParentActions& actions) {
    CHECK(actions.tap.empty());
    REQUIRE(actions.orders.size() == 1);
    CHECK(actions.orders[0].first == host);
    CHECK(actions.orders[0].second.id == job);
    CHECK(actions.orders[0].second.kind == Order::Kind::cancel);
    CHECK(actions.moved == std::vector<JobId>{job});
}

}  // namespace

// Mutant: modules/job-route/route_hand_down.cpp: is_in_sched && !is_stopped(job) => is_in_sched
TEST_CASE("route queue: jobs of a stopped queue stay here, those of others go down; started again, it goes down") {
    RouteTable table = with_two_queues();
    table.set_stopped({"batch"});
    enter(table, job);
    CHECK(next_of(table, job) == JobId{});
    KeptPartition on_demand;
    on_demand.queues = {"batch"};
    on_demand.cores = 4;
    CHECK_FALSE(table.is_awaited(on_demand));
    enter(table, JobId{101}, 7, "debug");
    CHECK(next_of(table, JobId{101}) == host);
    table.set_stopped({});
    CHECK(next_of(table, job) == host);
}

// Mutant: modules/job-route/route_children.cpp: drained_.count(id) > 0 || is_stopped(entry->second) =>
// drained_.count(id) > 0
TEST_CASE("route queue: a copy without an allocation comes back when its queue is stopped, and goes down again") {
    RouteTable table = with_a_job();
    table.set_stopped({"debug"});
    CHECK(table.take().orders.empty());
    table.set_stopped({"batch"});
    is_recalled(table.take());
    REQUIRE(table.report(a_report(ChildEvent::Kind::allocated)));  // too late
    CHECK(table.take().tap.empty());
    REQUIRE(table.report(a_report(ChildEvent::Kind::cleaned, 2)));
    CHECK(table.take().tap.empty());
    table.set_stopped({});
    CHECK(next_of(table, job) == host);
}

TEST_CASE("route queue: a stop leaves what has its allocation on record, or on its way there") {
    for (const bool is_on_record : {false, true}) {
        RouteTable table = with_a_job();
        REQUIRE(table.report(a_report(ChildEvent::Kind::allocated)));
        CHECK(table.take().tap.size() == 1);
        if (is_on_record) {
            record_alloc(table);
            (void)table.take();
        }
        table.set_stopped({"batch"});
        CHECK(table.take().orders.empty());
        if (!is_on_record) {
            record_alloc(table);
            const ParentActions actions = table.take();
            REQUIRE(actions.orders.size() == 1);
            CHECK(actions.orders[0].second.kind == Order::Kind::go);
        }
    }
}

// Mutant: modules/job-route/route_table.cpp: (drained_.count(child) > 0 || is_stopped(job)) => drained_.count(child) >
// 0
TEST_CASE("route queue: a stop while the plugin records the hand-down brings the job back") {
    RouteTable table = with_two_queues();
    enter(table, job);
    REQUIRE(table.take().tap.size() == 1);
    table.set_stopped({"batch"});
    record_route(table, job, host);
    const ParentActions actions = table.take();
    CHECK(actions.tap.empty());
    CHECK(actions.orders.empty());
    table.jobspec_ready(job, "{}");
    CHECK(table.take().orders.empty());
    CHECK(table.find(job)->child == JobId{});
    table.set_stopped({});
    CHECK(next_of(table, job) == host);
}

TEST_CASE("route queue: after a restart the copies of a stopped queue are recalled when their child attaches") {
    for (const bool is_known_there : {false, true}) {
        RouteTable table(false);
        table.set_stopped({"batch"});
        run_host(table, host);
        enter(table, job);
        record_route(table, job, host);
        enter(table, JobId{101});
        table.synced();
        CHECK(table.take().tap.empty());
        Attach attach = an_attach(host);
        if (is_known_there) {
            KnownJob known;
            known.id = job;
            attach.known.push_back(known);
        }
        REQUIRE(table.attach(attach, {0, true}));
        const ParentActions actions = table.take();
        CHECK(actions.tap.empty());
        CHECK(std::count_if(actions.orders.begin(), actions.orders.end(), [](const auto& order) {
                  return order.second.kind == Order::Kind::cancel;
              }) == (is_known_there ? 1 : 0));
        table.jobspec_ready(job, "{}");
        CHECK(table.take().orders.empty());
        CHECK(table.find(job)->child == JobId{});
    }
}

namespace {

void change_queue(RouteTable& table, const std::string& queue) {
    JournalEvent update = an_event(Kind::update);
    update.queue = queue;
    table.event(job, update);
}

/// The job waits in the child of batch, and another child serves debug.
RouteTable with_a_job_and_debug() {
    RouteTable table = with_a_job();
    run_host(table, other_host, 0, {"debug"});
    REQUIRE(table.attach(an_attach(other_host), {0, true}));
    (void)table.take();
    return table;
}

}  // namespace

// Mutant: modules/job-route/route_table.cpp: facts.queue = event.queue.value_or(facts.queue); =>
TEST_CASE("route queue: a waiting job whose queue changes goes to a child that serves the new one") {
    RouteTable table = with_a_job_and_debug();
    change_queue(table, "debug");
    CHECK(table.find(job)->queue == "debug");
    const ParentActions actions = table.take();
    REQUIRE(actions.orders.size() == 1);
    CHECK(actions.orders[0].first == host);
    CHECK(actions.orders[0].second.kind == Order::Kind::cancel);
    REQUIRE(actions.tap.size() == 1);
    CHECK(actions.tap[0].kind == TapOp::Kind::give);
    CHECK(actions.tap[0].child == other_host);
    CHECK(actions.tap[0].queue == "debug");
}

TEST_CASE("route queue: a job that waits here for a queue that nobody serves goes down when its queue changes") {
    RouteTable table = with_two_queues();
    enter(table, job, 7, "nowhere");
    CHECK(next_of(table, job) == JobId{});
    change_queue(table, "debug");
    CHECK(next_of(table, job) == host);
}

// Mutant: modules/job-route/route_table.cpp: is_new(event.queue, facts.queue) || => false ||
TEST_CASE("route queue: a child of both queues gets the job anew, in the new queue") {
    RouteTable table = with_two_queues();
    enter(table, job);
    REQUIRE(next_of(table, job) == host);
    change_queue(table, "debug");
    is_recalled(table.take());
    REQUIRE(table.report(a_report(ChildEvent::Kind::cleaned)));
    CHECK(next_of(table, job) == host);
}

// Mutant: modules/job-route/route_table.cpp: given->is_outdated && !given->is_alloc_asked => false
TEST_CASE("route queue: a copy whose job gets another account, project or time limit is made anew") {
    JournalEvent account = an_event(Kind::update);
    JournalEvent project = account;
    JournalEvent limit = account;
    account.account = "chem";
    project.has_project = true;
    limit.duration = weir::Duration(60'000'000);
    for (const JournalEvent& update : {account, project, limit}) {
        RouteTable table = with_a_job();
        table.event(job, update);
        is_recalled(table.take());
        REQUIRE(table.report(a_report(ChildEvent::Kind::cleaned)));
        CHECK(next_of(table, job) == host);
    }
}

// Mutant: modules/job-route/route_table.cpp: (child.is_trusted && runs_as_owner_) => child.is_trusted
TEST_CASE("route queue: a child that runs jobs as its own user gets his alone") {
    RouteTable table(false, 30, HandDown::depth_default, 0, false);
    run_host(table, host);
    run_host(table, other_host, 7);
    enter(table, job, 7);
    table.synced();
    REQUIRE(table.attach(an_attach(host), {0, true}));
    CHECK(table.take().tap.empty());
    REQUIRE(table.attach(an_attach(other_host), {7, false}));
    CHECK(next_of(table, job) == other_host);
}

TEST_CASE("route queue: a change to the same queue changes nothing, and one that is too late leaves the job") {
    RouteTable table = with_a_job_and_debug();
    change_queue(table, "batch");
    CHECK(table.take().orders.empty());
    REQUIRE(table.report(a_report(ChildEvent::Kind::allocated)));
    CHECK(table.take().tap.size() == 1);
    change_queue(table, "debug");
    const ParentActions actions = table.take();
    CHECK(actions.orders.empty());
    CHECK(actions.tap.empty());
}

// Mutant: modules/job-route/hand_down_pass.cpp: if (!kind.is_served) { => if (false) {
TEST_CASE("route queue: a change while this module did not run, or while the plugin records the hand-down") {
    for (const bool is_on_record : {false, true}) {
        RouteTable table(false);
        run_host(table, host);
        run_host(table, other_host, 0, {"debug"});
        enter(table, job);
        if (is_on_record) {
            record_route(table, job, host);
            change_queue(table, "debug");
        }
        table.synced();
        REQUIRE(table.attach(an_attach(other_host), {0, true}));
        REQUIRE(table.attach(an_attach(host), {0, true}));
        ParentActions actions = table.take();
        if (!is_on_record) {
            change_queue(table, "debug");
            record_route(table, job, host);
            actions = table.take();
        }
        REQUIRE(actions.tap.size() == 1);
        CHECK(actions.tap[0].child == other_host);
        for (const auto& [child, order] : actions.orders) {
            CHECK(order.kind == Order::Kind::complete);
        }
        table.jobspec_ready(job, "{}");
        for (const auto& [child, order] : table.take().orders) {
            CHECK(order.kind == Order::Kind::complete);
        }
    }
}

TEST_CASE("route queue: an allocation in a child that does not serve the new queue is not taken") {
    RouteTable table(false);
    run_host(table, host);
    enter(table, job);
    record_route(table, job, host);
    change_queue(table, "debug");
    table.synced();
    Attach attach = an_attach(host);
    KnownJob known;
    known.id = job;
    attach.known.push_back(known);
    REQUIRE(table.attach(attach, {0, true}));
    CHECK(table.find(job)->child == JobId{});
    (void)table.take();
    REQUIRE(table.report(a_report(ChildEvent::Kind::allocated)));
    CHECK(table.take().tap.empty());
}

// Mutant: modules/job-route/route_table.cpp: job.updates += 1 => job.updates += is_synced_ ? 1 : 0
TEST_CASE("route queue: the updates of a jobspec are counted, those of the backlog too") {
    RouteTable table(false);
    run_host(table, host);
    enter(table, job);
    CHECK(table.active(job)->updates == 0);
    change_queue(table, "debug");
    table.synced();
    CHECK(table.active(job)->updates == 1);
    change_queue(table, "batch");
    table.event(job, an_event(Kind::update));  // of what job-route does not look at
    CHECK(table.active(job)->updates == 3);
}
