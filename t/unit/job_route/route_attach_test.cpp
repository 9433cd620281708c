// SPDX-License-Identifier: LGPL-3.0-only
// Who may attach to a RouteTable, and what it believes and keeps of what he says.
#include <catch2/catch.hpp>

#include "t/unit/job_route/route_scene.hpp"

using namespace weir::route;
using namespace weir::route::test;

namespace {

constexpr Caller guest{7, false};

RouteTable with_the_guests_instance() {
    RouteTable table(false);
    table.synced();
    run_host(table, host, guest.userid);
    return table;
}

}  // namespace

TEST_CASE("attach: whose job it is, is asked before anything that he sent is read") {
    const RouteTable table = with_the_guests_instance();
    CHECK(table.may_attach({host, 1, 0}, guest));
    CHECK(table.may_attach({host, 1, 0}, {9, false}).error().code == std::errc::operation_not_permitted);
    CHECK(table.may_attach({job, 1, 0}, guest).error().code == std::errc::no_such_process);
    CHECK(table.children().empty());
}

// Mutant: modules/job-route/route_attach.cpp: if (is_in_run(job.progress)) { => if (true) {
// Mutant: modules/job-route/route_table.cpp: running_here_.erase({entry->second.userid, id}); =>
TEST_CASE("attach: who has no job that runs here itself may have no child; the owner may") {
    RouteTable table(false);
    CHECK(table.may_have_child({0, true}).error().code == std::errc::resource_unavailable_try_again);
    table.synced();
    const auto has_none = [&] {
        const weir::Status status = table.may_have_child(guest);
        return !status && status.error().code == std::errc::no_such_process;
    };
    CHECK(table.may_have_child({0, true}));
    enter(table, job, guest.userid);  // it will run in a child
    CHECK(has_none());
    run_host(table, other_host, guest.userid + 1);
    CHECK(has_none());
    run_host(table, host, guest.userid);
    CHECK(table.may_have_child(guest));
    table.event(host, an_event(Kind::finish));
    CHECK(has_none());
    run_host(table, JobId{3}, guest.userid);
    CHECK(table.may_have_child(guest));
    table.event(JobId{3}, an_event(Kind::clean));
    CHECK(has_none());
}

// Mutant: modules/job-route/route_report.cpp: found->second.userid != caller.userid => false
// Mutant: modules/job-route/route_report.cpp: !caller.is_owner && head.events > => head.events >
TEST_CASE("report: whose session it is, and how much a guest reports, is asked before it is expanded") {
    RouteTable table = with_the_guests_instance();
    const auto refusal = [&table](const ReportHead& head, const Caller& caller) {
        return table.may_report(head, caller).error().code;
    };
    CHECK(refusal({host, "s", 1}, guest) == std::errc::owner_dead);
    CHECK_FALSE(table.may_have_session(guest));
    REQUIRE(table.attach(an_attach(host), guest));
    CHECK(table.may_have_session(guest));
    CHECK_FALSE(table.may_have_session({9, false}));
    CHECK(table.may_report({host, "s", report_events_max}, guest));
    CHECK(refusal({host, "s", report_events_max + 1}, guest) == std::errc::invalid_argument);
    CHECK(refusal({host, "t", 1}, guest) == std::errc::owner_dead);
    CHECK(refusal({other_host, "s", 1}, guest) == std::errc::owner_dead);
    CHECK(refusal({host, "s", 1}, {9, false}) == std::errc::owner_dead);
    table.detach(host, "s");
    CHECK(refusal({host, "s", 1}, guest) == std::errc::owner_dead);
    CHECK_FALSE(table.may_have_session(guest));
    run_host(table, other_host);
    REQUIRE(table.attach(an_attach(other_host), {0, true}));
    CHECK(table.may_report({other_host, "s", 100000}, {0, true}));
}

// Mutant: modules/job-route/route_attach.cpp: caller.is_owner ? attach.cores : std::min => true ? attach.cores :
// std::min
TEST_CASE("attach: a guest's child has no more cores than its own job") {
    const auto cores = [](const Caller& caller) {
        RouteTable table(false);
        table.synced();
        run_host(table, host, caller.userid);
        JournalEvent alloc = an_event(Kind::alloc);
        alloc.cores = 3;
        table.event(host, alloc);
        Attach attach = an_attach(host);
        attach.cores = cores_max;
        REQUIRE(table.attach(attach, caller));
        return table.children().at(0).cores;
    };
    CHECK(cores(guest) == 3);
    CHECK(cores({0, true}) == cores_max);
}

TEST_CASE("attach: a guest's child knows a bounded number of jobs") {
    RouteTable table = with_the_guests_instance();
    Attach attach = an_attach(host);
    attach.known.resize((1U << 16) + 1);
    CHECK(table.attach(attach, guest).error().message == "job 1 knows 65537 jobs; it may know 65536");
    attach.known.pop_back();
    CHECK(table.attach(attach, guest));
    run_host(table, other_host, 0);
    attach.child = other_host;
    attach.known.resize(100000);
    CHECK(table.attach(attach, {0, true}));
}

// Mutant: modules/job-route/route_attach.cpp: entry != jobs_.end() && is_allowed(child, entry->second) => true
TEST_CASE("attach: of a job that is not active its copy is cancelled, and nothing is kept") {
    RouteTable table = with_the_guests_instance();
    Attach attach = an_attach(host);
    attach.known = {{job, false, 16, false}, {JobId{101}, true, 16, false}};
    REQUIRE(table.attach(attach, guest));
    const auto orders = table.take().orders;
    REQUIRE(orders.size() == 2);
    CHECK(orders[0].second.kind == Order::Kind::cancel);
    CHECK(orders[0].second.id == job);
    CHECK(orders[1].second.kind == Order::Kind::complete);
    enter(table, job, guest.userid);  // what was kept of it would keep it away
    const auto tap = table.take().tap;
    REQUIRE(tap.size() == 1);
    CHECK(tap[0].kind == TapOp::Kind::give);
}
