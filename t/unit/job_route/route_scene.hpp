// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what tests of RouteTable begin with: a child instance, a routed job, and what a journal or a child says of
// them.
#pragma once
#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "modules/job-route/route_table.hpp"

namespace weir::route::test {

using Kind = JournalEvent::Kind;

inline constexpr JobId host{1};
inline constexpr JobId other_host{2};
inline constexpr JobId job{100};

inline JournalEvent an_event(Kind kind) {
    JournalEvent event;
    event.kind = kind;
    event.priority = 16;
    return event;
}

inline void run_host(RouteTable& table, JobId id, std::uint32_t userid = 0, std::vector<std::string> serves = {"batch"},
                     std::int64_t cores = 0) {
    JournalEvent submit = an_event(Kind::submit);
    submit.userid = userid;
    JobFacts facts;
    facts.serves = std::move(serves);
    facts.cores = cores;
    table.submitted(id, submit, facts);
    table.event(id, an_event(Kind::priority));
    JournalEvent alloc = an_event(Kind::alloc);
    alloc.R = "the host's R";
    table.event(id, alloc);
}

inline Attach an_attach(JobId id, const std::string& session = "s") {
    Attach attach;
    attach.child = id;
    attach.session = session;
    attach.cores = 4;
    return attach;
}

/// Routed, in SCHED.
inline void enter(RouteTable& table, JobId id, std::uint32_t userid = 7, const std::string& queue = "batch") {
    JournalEvent submit = an_event(Kind::submit);
    submit.userid = userid;
    JobFacts facts;
    facts.queue = queue;
    table.submitted(id, submit, facts);
    table.event(id, an_event(Kind::bypass));
    table.event(id, an_event(Kind::priority));
}

inline void record_route(RouteTable& table, JobId id, JobId child) {
    JournalEvent event = an_event(Kind::route);
    event.child = child.value;
    table.event(id, event);
}

/// One attached child, an instance of the caller's, with one job that it has.
inline RouteTable with_a_job(const Caller& caller = {0, true}) {
    RouteTable table(false);
    table.synced();
    run_host(table, host, caller.userid);
    REQUIRE(table.attach(an_attach(host), caller));
    enter(table, job);
    record_route(table, job, host);
    table.jobspec_ready(job, "{}");
    (void)table.take();
    return table;
}

inline Report a_report(ChildEvent::Kind kind, std::uint64_t seq = 1) {
    ChildEvent event;
    event.seq = seq;
    event.id = job;
    event.kind = kind;
    event.R = "R";
    return {host, "s", {event}};
}

inline void record_alloc(RouteTable& table, JobId child = host) {
    JournalEvent alloc = an_event(Kind::alloc);
    alloc.child = child.value;
    table.event(job, alloc);
}

/// The parent's journal has an exception that ends the job: the child is told to cancel its copy.
inline void end_cancels_copy(RouteTable& table, const std::string& type) {
    JournalEvent ended = an_event(Kind::exception);
    ended.type = type;
    table.event(job, ended);
    const auto orders = table.take().orders;
    REQUIRE(orders.size() == 1);
    CHECK(orders[0].second.kind == Order::Kind::cancel);
}

}  // namespace weir::route::test
