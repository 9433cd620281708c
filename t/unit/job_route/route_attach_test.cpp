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
    CHECK(table.may_attach(an_attach(host), guest));
    CHECK(table.may_attach(an_attach(host), {9, false}).error().code == std::errc::operation_not_permitted);
    CHECK(table.may_attach(an_attach(job), guest).error().code == std::errc::no_such_process);
    CHECK(table.children().empty());
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
