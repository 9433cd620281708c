// SPDX-License-Identifier: LGPL-3.0-only
// RouteTable and the jobs that a child cannot run: another one is asked, each once, and the job ends when all said no.
#include <catch2/catch.hpp>

#include "t/unit/job_route/route_scene.hpp"

using namespace weir::route;
using namespace weir::route::test;

namespace {

KeptPartition a_partition(const std::string& name, JobId instance, std::int64_t cores = 4) {
    KeptPartition partition;
    partition.name = name;
    partition.job = instance;
    partition.queues = {"batch"};
    partition.cores = cores;
    return partition;
}

/// The partitions one and two, which take the same jobs; only one is attached.
RouteTable with_two(std::int64_t cores_of_two = 4) {
    RouteTable table(false);
    table.synced();
    (void)table.set_partitions({a_partition("one", host), a_partition("two", other_host, cores_of_two)});
    run_host(table, host);
    run_host(table, other_host);
    REQUIRE(table.attach(an_attach(host), {0, true}));
    return table;
}

/// One has the job.
RouteTable with_a_job_in_one(std::int64_t cores = 1, std::int64_t cores_of_two = 4) {
    RouteTable table = with_two(cores_of_two);
    JobFacts facts;
    facts.queue = "batch";
    facts.cores = cores;
    table.submitted(job, an_event(Kind::submit), facts);
    table.event(job, an_event(Kind::bypass));
    table.event(job, an_event(Kind::priority));
    (void)table.take();
    record_route(table, job, host);
    table.jobspec_ready(job, "{}");
    (void)table.take();
    return table;
}

Report cannot(JobId child, std::uint64_t seq = 1, const std::string& session = "s", const std::string& type = "alloc") {
    Report report = a_report(ChildEvent::Kind::exception, seq);
    report.child = child;
    report.session = session;
    report.events[0].type = type;
    report.events[0].note = "no such node";
    return report;
}

/// The job of the only request to the plugin, which gives it to that child.
void check_given_to(RouteTable& table, JobId child) {
    const ParentActions actions = table.take();
    REQUIRE(actions.tap.size() == 1);
    CHECK(actions.tap[0].kind == TapOp::Kind::give);
    CHECK(actions.tap[0].child == child);
    record_route(table, job, child);
    table.jobspec_ready(job, "{}");
    (void)table.take();
}

}  // namespace

TEST_CASE("unfit: a job that one partition cannot run goes to the next, and ends when all said so") {
    RouteTable table = with_a_job_in_one();
    REQUIRE(table.attach(an_attach(other_host), {0, true}));
    REQUIRE(table.report(cannot(host)));
    CHECK(table.words_of(job).at(0).away == "cannot run it: no such node");
    CHECK(table.words_of(job).at(1).away.empty());
    check_given_to(table, other_host);
    REQUIRE(table.report(a_report(ChildEvent::Kind::cleaned, 2)));  // of the first copy
    CHECK(table.take().tap.empty());
    REQUIRE(table.report(cannot(other_host)));
    const ParentActions end = table.take();
    REQUIRE(end.tap.size() == 1);
    CHECK(end.tap[0].kind == TapOp::Kind::exception);
    CHECK(end.tap[0].type == "alloc");
    CHECK(end.tap[0].note == "in the partition one: no such node; in the partition two: no such node");
}

// Mutant: modules/job-route/hand_down.cpp: || jobs.is_unfit_for(rooms_[i].id)) { => ) {
TEST_CASE("unfit: a partition that is down is waited for, and the one that cannot is not asked again") {
    RouteTable table = with_a_job_in_one();
    REQUIRE(table.report(cannot(host)));
    REQUIRE(table.report(a_report(ChildEvent::Kind::cleaned, 2)));
    for (int i = 0; i < 100; i++) {
        table.tick();
        CHECK(table.take().tap.empty());
        REQUIRE(table.report({host, "s", {}}));
    }
    REQUIRE(table.attach(an_attach(other_host), {0, true}));
    check_given_to(table, other_host);
}

TEST_CASE("unfit: it is asked again after it attached again") {
    RouteTable table = with_a_job_in_one();
    REQUIRE(table.report(cannot(host)));
    CHECK(table.take().tap.empty());
    table.detach(host, "s");
    REQUIRE(table.attach(an_attach(host, "anew"), {0, true}));
    check_given_to(table, host);
    REQUIRE(table.report(cannot(host, 1, "anew")));
    CHECK(table.take().tap.empty());
}

TEST_CASE("unfit: a new instance of a partition is asked") {
    RouteTable table = with_a_job_in_one();
    REQUIRE(table.report(cannot(host)));
    const JobId resized{3};
    run_host(table, resized);
    (void)table.set_partitions({a_partition("one", resized), a_partition("two", other_host)});
    REQUIRE(table.attach(an_attach(resized), {0, true}));
    check_given_to(table, resized);
}

TEST_CASE("unfit: an on-demand partition is not awaited by a job that it cannot run") {
    RouteTable table = with_a_job_in_one();
    REQUIRE(table.report(cannot(host)));
    CHECK_FALSE(table.is_awaited(a_partition("one", host)));
    CHECK(table.is_awaited(a_partition("two", other_host)));
}

TEST_CASE("unfit: a partition that is too small or does not take it is not waited for") {
    RouteTable table = with_a_job_in_one(3, 2);
    REQUIRE(table.report(cannot(host)));
    const ParentActions end = table.take();
    REQUIRE(end.tap.size() == 1);
    CHECK(end.tap[0].note == "in the partition one: no such node; the partition two has 2 cores");

    RouteTable ruled = with_a_job_in_one();
    KeptPartition two = a_partition("two", other_host);
    two.rules.qos = {"high"};
    (void)ruled.set_partitions({a_partition("one", host), two});
    REQUIRE(ruled.report(cannot(host)));
    const ParentActions failed = ruled.take();
    REQUIRE(failed.tap.size() == 1);
    CHECK(failed.tap[0].note == "in the partition one: no such node");
}

// Mutant: modules/job-route/route_report.cpp: type == "alloc" || type == "limit" => type == "alloc"
// Mutant: modules/job-route/route_report.cpp: || type == "route"; => ;
TEST_CASE("unfit: a partition whose own policy refuses a job is asked once, and the job goes to the next") {
    for (const std::string type : {"limit", "route"}) {
        RouteTable table = with_a_job_in_one();
        REQUIRE(table.attach(an_attach(other_host), {0, true}));
        REQUIRE(table.report(cannot(host, 1, "s", type)));
        check_given_to(table, other_host);
        REQUIRE(table.report(a_report(ChildEvent::Kind::cleaned, 2)));  // of a copy that was never there
        REQUIRE(table.report(cannot(other_host, 1, "s", type)));
        const ParentActions end = table.take();
        REQUIRE(end.tap.size() == 1);
        CHECK(end.tap[0].type == type);
        CHECK(end.tap[0].note == "in the partition one: no such node; in the partition two: no such node");
    }
}

TEST_CASE("unfit: another exception ends the job at once, and so does one after the allocation") {
    RouteTable table = with_a_job_in_one();
    REQUIRE(table.report(cannot(host, 1, "s", "exec")));
    CHECK(table.take().tap.at(0).kind == TapOp::Kind::exception);

    RouteTable allocated = with_a_job_in_one();
    REQUIRE(allocated.report(a_report(ChildEvent::Kind::allocated)));
    record_alloc(allocated);
    (void)allocated.take();
    REQUIRE(allocated.report(cannot(host, 2)));
    CHECK(allocated.take().tap.at(0).kind == TapOp::Kind::exception);
}

TEST_CASE("unfit: another request, or another queue, makes every partition a place again") {
    RouteTable table = with_a_job_in_one();
    REQUIRE(table.report(cannot(host)));
    REQUIRE(table.report(a_report(ChildEvent::Kind::cleaned, 2)));
    CHECK(table.take().tap.empty());
    JournalEvent update = an_event(Kind::update);
    update.account = "bio";
    table.event(job, update);
    check_given_to(table, host);
}
