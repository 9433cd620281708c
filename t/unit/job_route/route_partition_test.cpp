// SPDX-License-Identifier: LGPL-3.0-only
// RouteTable and the partitions that children are.
#include <catch2/catch.hpp>

#include "t/unit/job_route/route_scene.hpp"

using namespace weir::route;
using namespace weir::route::test;

namespace {

/// A child that is the partition "large", with one job; attached by its owner or by a guest.
RouteTable with_a_partition(bool is_owner) {
    RouteTable table(false);
    table.synced();
    JobFacts facts;
    facts.serves = {"batch"};
    facts.partition = "large";
    JournalEvent submit = an_event(Kind::submit);
    submit.userid = 7;
    table.submitted(host, submit, facts);
    table.event(host, an_event(Kind::priority));
    table.event(host, an_event(Kind::alloc));
    REQUIRE(table.attach(an_attach(host), {7, is_owner}));
    enter(table, job);
    record_route(table, job, host);
    table.jobspec_ready(job, "{}");
    (void)table.take();
    return table;
}

std::string note_of(RouteTable table, const std::string& type) {
    Report report = a_report(ChildEvent::Kind::exception);
    report.events[0].type = type;
    report.events[0].note = "this instance has 2";
    REQUIRE(table.report(report));
    return table.take().tap.at(0).note;
}

}  // namespace

TEST_CASE("partition: what its scheduler says of a job names it, and nobody but the owner names one") {
    CHECK(note_of(with_a_partition(true), "alloc") == "in the partition large: this instance has 2");
    CHECK(note_of(with_a_partition(true), "exec") == "this instance has 2");
    CHECK(note_of(with_a_partition(false), "alloc") == "this instance has 2");
    CHECK(with_a_partition(true).partition_of(host) == "large");
    CHECK(with_a_partition(false).partition_of(host).empty());
}

TEST_CASE("give: a child is told the queue that the user submitted to and where the output is kept, over all levels") {
    for (const bool is_from_above : {false, true}) {
        RouteTable table(true);
        table.synced();
        run_host(table, host);
        REQUIRE(table.attach(an_attach(host), {0, true}));
        JobFacts facts;
        facts.queue = "batch";
        facts.upstream = is_from_above ? 3 : 0;
        facts.upstream_queue = is_from_above ? "top" : "a guest's word";
        facts.upstream_output = is_from_above ? "/top/output/f3" : "/a/guest's/word";
        table.submitted(job, an_event(Kind::submit), facts);
        table.event(job, an_event(Kind::bypass));
        table.event(job, an_event(Kind::priority));
        (void)table.take();
        record_route(table, job, host);
        table.jobspec_ready(job, "{}");
        const ParentActions sent = table.take();
        REQUIRE(sent.orders.size() == 1);
        CHECK(sent.orders[0].second.queue == (is_from_above ? "top" : facts.queue));
        CHECK(sent.orders[0].second.output == (is_from_above ? "/top/output/f3" : ""));
    }
}
