// SPDX-License-Identifier: LGPL-3.0-only
// What RouteTable takes of a child's reports.
#include <catch2/catch.hpp>

#include "t/unit/job_route/route_scene.hpp"

using namespace weir::route;
using namespace weir::route::test;

TEST_CASE("reports: each once, in sequence, in the session that is open") {
    RouteTable table = with_a_job();
    CHECK(*table.report(a_report(ChildEvent::Kind::accepted)) == 1U);
    CHECK(*table.report(a_report(ChildEvent::Kind::allocated, 2)) == 2U);
    CHECK(*table.report(a_report(ChildEvent::Kind::allocated, 2)) == 2U);
    CHECK(table.take().tap.size() == 1);
    CHECK(table.report(a_report(ChildEvent::Kind::started, 4)).error().code == std::errc::protocol_error);
    Report stale = a_report(ChildEvent::Kind::started, 3);
    stale.session = "other";
    CHECK(table.report(stale).error().code == std::errc::owner_dead);
    table.detach(host, "s");
    CHECK(table.report(a_report(ChildEvent::Kind::started, 3)).error().code == std::errc::owner_dead);
}

TEST_CASE("report: a start or a finish before the allocation is on record is none") {
    RouteTable table = with_a_job();
    REQUIRE(table.report(a_report(ChildEvent::Kind::finished, 1)));
    REQUIRE(table.report(a_report(ChildEvent::Kind::started, 2)));
    REQUIRE(table.report(a_report(ChildEvent::Kind::finished, 3)));
    CHECK(table.take().tap.empty());
    record_alloc(table);
    REQUIRE(table.report(a_report(ChildEvent::Kind::finished, 4)));
    CHECK(table.take().tap.empty());
    REQUIRE(table.report(a_report(ChildEvent::Kind::started, 5)));
    REQUIRE(table.report(a_report(ChildEvent::Kind::finished, 6)));
    CHECK(table.take().tap.size() == 2);
}

TEST_CASE("report: an exception that does not end a job is none, so that the job's end reaches its next child") {
    RouteTable table = with_a_job();
    Report warning = a_report(ChildEvent::Kind::exception, 1);
    warning.events[0].severity = 1;
    REQUIRE(table.report(warning));
    CHECK(table.take().tap.empty());
    end_cancels_copy(table, "cancel");
}

// Kills: a guest's child says that its copy has the id of a job that ended here, and who asks for that job gets the
// copy's.
TEST_CASE("report: the ids of copies count in the owner's children alone") {
    const auto known = [](const Caller& caller) {
        RouteTable table = with_a_job(caller);
        Report report = a_report(ChildEvent::Kind::accepted);
        report.events[0].local = LocalId{55};
        REQUIRE(table.report(report));
        REQUIRE(table.find(job)->local == LocalId{55});
        return table.id_of(LocalId{55});
    };
    CHECK(known({0, true}) == job);
    CHECK(known({7, false}) == JobId{});
}

TEST_CASE("report: a job taken that is no longer the child's is cancelled there") {
    RouteTable table(false);
    table.synced();
    run_host(table, host);
    REQUIRE(table.attach(an_attach(host), {0, true}));
    (void)table.take();
    REQUIRE(table.report(a_report(ChildEvent::Kind::accepted, 1)));
    const auto orders = table.take().orders;
    REQUIRE(orders.size() == 1);
    CHECK(orders[0].second.kind == Order::Kind::cancel);
    CHECK(orders[0].second.id == job);
    REQUIRE(table.report(a_report(ChildEvent::Kind::exception, 2)));
    CHECK(table.take().tap.empty());
}

// Mutant: modules/job-route/route_report.cpp: !child.is_trusted) { => false) {
TEST_CASE("report: a guest's child that starts a job too early gets it again after a pause, an owner's child at once") {
    const auto holder_after = [](const Caller& caller) {
        RouteTable table = with_a_job(caller);
        const auto record = [&table] {
            for (bool is_more = true; is_more;) {
                is_more = false;
                for (const TapOp& op : table.take().tap) {
                    record_route(table, op.id, op.child);
                    is_more = true;
                }
            }
        };
        const auto set_urgency = [&](int urgency) {
            JournalEvent change = an_event(Kind::urgency);
            change.urgency = urgency;
            table.event(job, change);
            table.event(job, an_event(Kind::priority));
            record();
        };
        set_urgency(0);
        REQUIRE(table.report(a_report(ChildEvent::Kind::allocated, 1)));
        record();
        set_urgency(16);
        REQUIRE(table.report(a_report(ChildEvent::Kind::cleaned, 2)));
        record();
        return table.find(job)->child;
    };
    CHECK(holder_after({0, true}) == host);
    CHECK(holder_after({7, false}) == JobId{});
}

// Mutant: modules/job-route/route_report.cpp: job.uri != event.note && => true &&
TEST_CASE("route report: the URI of an instance in a child is published once, while its job runs") {
    RouteTable table = with_a_job();
    Report report = a_report(ChildEvent::Kind::published);
    report.events[0].note = "local:///run/x/local-0";
    REQUIRE(table.report(report));
    CHECK(table.take().uris.empty());  // it has no resources
    record_alloc(table);
    (void)table.take();
    for (std::uint64_t seq = 2; seq <= 3; ++seq) {
        report.events[0].seq = seq;
        REQUIRE(table.report(report));
        const auto uris = table.take().uris;
        CHECK(uris.size() == (seq == 2 ? 1 : 0));
    }
    report.events[0].seq = 4;
    report.events[0].note = std::string(2000, 'x');
    REQUIRE(table.report(report));
    CHECK(table.take().uris.empty());
}

// Mutant: modules/job-route/route_report.cpp: (child.is_trusted || job.uri.empty()) => true
TEST_CASE("route report: a guest's child publishes one URI a job, since each is a memo for ever") {
    const auto published = [](const Caller& caller) {
        RouteTable table = with_a_job(caller);
        record_alloc(table);
        std::size_t count = 0;
        Report report = a_report(ChildEvent::Kind::published);
        for (std::uint64_t seq = 1; seq <= 5; ++seq) {
            report.events[0].seq = seq;
            report.events[0].note = "local:///run/" + std::to_string(seq);
            REQUIRE(table.report(report));
            count += table.take().uris.size();
        }
        return count;
    };
    CHECK(published({0, true}) == 5);
    CHECK(published({7, false}) == 1);
}

TEST_CASE("route report: the type of an exception is one word and short, and its note is bounded") {
    RouteTable table = with_a_job({7, false});
    Report report = a_report(ChildEvent::Kind::exception);
    report.events[0].type = "a b=c\n" + std::string(100000, 'x');
    report.events[0].note = "\x1b[31m" + std::string(100000, 'y');
    REQUIRE(table.report(report));
    const auto tap = table.take().tap;
    REQUIRE(tap.size() == 1);
    CHECK(tap[0].type == "a_b_c\\x0a" + std::string(58, 'x') + "...");
    CHECK(tap[0].note == "\\x1b[31m" + std::string(1019, 'y') + "...");
}

// Mutant: modules/job-route/route_report.cpp: if (!is_open_to_alloc(job) || is_known) { => if (false) {
TEST_CASE("route report: R is read once for each allocation that is news, and for no other job") {
    RouteTable table = with_a_job({7, false});
    int count = 0;
    const auto read = [&count](const std::string& R) {
        count += 1;
        return weir::Result<std::string>("parent's " + R);
    };
    Report report = a_report(ChildEvent::Kind::allocated);
    report.events[0].id = JobId{999};
    REQUIRE(table.report(report, read));
    CHECK(count == 0);
    for (std::uint64_t seq = 2; seq <= 6; ++seq) {
        REQUIRE(table.report(a_report(ChildEvent::Kind::allocated, seq), read));
    }
    CHECK(count == 1);
    const auto tap = table.take().tap;
    REQUIRE(tap.size() == 1);
    CHECK(tap[0].R == "parent's R");
    record_alloc(table);
    REQUIRE(table.report(a_report(ChildEvent::Kind::allocated, 7), read));
    CHECK(count == 1);
}

namespace {

const JobId better{102};

void prefer(RouteTable& table, JobId id, std::int64_t priority) {
    JournalEvent event = an_event(Kind::priority);
    event.priority = priority;
    table.event(id, event);
}

/// A child of one core has given it to `job`, and a better one is on its way there.
RouteTable with_a_better_one_coming() {
    RouteTable table = with_a_job();
    Attach attach = an_attach(host);
    attach.cores = 1;
    attach.known = {{job, false, 16, false}};
    REQUIRE(table.attach(attach, {0, true}));
    enter(table, better);
    prefer(table, better, 20);
    record_route(table, better, host);
    table.jobspec_ready(better, "{}");
    Report report = a_report(ChildEvent::Kind::accepted);
    report.events.push_back(a_report(ChildEvent::Kind::allocated, 2).events[0]);
    report.events[0].local = report.events[1].local = LocalId{7};
    (void)table.take();
    REQUIRE(table.report(report));
    const ParentActions actions = table.take();
    CHECK(actions.tap.empty());
    CHECK(actions.orders.empty());  // else the child would give the core to the next one that it has
    return table;
}

}  // namespace

// Mutant: modules/job-route/route_hand_down.cpp: settle_held_allocations(); => if (false) settle_held_allocations();
// Mutant: modules/job-route/route_report.cpp: objection->kind == Objection::Kind::coming) { => false) {
TEST_CASE("route report: a job keeps its cores in the child until the better one is there, and is recalled then") {
    RouteTable table = with_a_better_one_coming();
    Report report = a_report(ChildEvent::Kind::accepted, 3);
    report.events[0].id = better;
    report.events[0].local = LocalId{8};
    REQUIRE(table.report(report));
    const ParentActions actions = table.take();
    CHECK(actions.tap.empty());
    REQUIRE(actions.orders.size() == 1);
    CHECK(actions.orders[0].second.kind == Order::Kind::cancel);
    CHECK(actions.orders[0].second.id == job);
}

TEST_CASE("route report: a job that kept its cores for a better one starts when that one goes elsewhere") {
    RouteTable table = with_a_better_one_coming();
    SECTION("it is canceled") {
        JournalEvent ended = an_event(Kind::exception);
        ended.type = "cancel";
        table.event(better, ended);
    }
    SECTION("it is not better any more") {
        prefer(table, better, 2);
    }
    SECTION("the child does not take it") {
        Report report = a_report(ChildEvent::Kind::returned, 3);
        report.events[0].id = better;
        REQUIRE(table.report(report));
    }
    const auto tap = table.take().tap;
    REQUIRE(tap.size() == 1);
    CHECK(tap[0].kind == TapOp::Kind::alloc);
    CHECK(tap[0].id == job);
    CHECK(tap[0].R == "R");
    CHECK(tap[0].local == LocalId{7});
}

// Mutant: modules/job-route/route_report.cpp: entry->second.given()->local != held.second.local || => false ||
TEST_CASE("route report: an allocation that was kept for a better one is none after the job came back") {
    RouteTable table = with_a_better_one_coming();
    const auto hold = [&table](int urgency) {
        JournalEvent change = an_event(Kind::urgency);
        change.urgency = urgency;
        table.event(job, change);
        table.event(job, an_event(Kind::priority));
    };
    hold(0);
    const ParentActions actions = table.take();
    CHECK(actions.tap.empty());
    REQUIRE(!actions.orders.empty());
    CHECK(actions.orders[0].second.id == job);
    prefer(table, better, 2);
    for (const TapOp& op : table.take().tap) {
        CHECK(op.kind != TapOp::Kind::alloc);
    }
}

// Mutant: modules/job-route/route_report.cpp: objections(ids, rules()); => objections({}, rules());
TEST_CASE("route report: of jobs allocated in one report each gives way to a better one on its way") {
    const JobId second{101};
    RouteTable table = with_a_job();
    const auto add = [&table](JobId id, std::int64_t priority) {
        enter(table, id);
        JournalEvent event = an_event(Kind::priority);
        event.priority = priority;
        table.event(id, event);
        record_route(table, id, host);
        table.jobspec_ready(id, "{}");
    };
    Attach attach = an_attach(host);
    attach.cores = 2;
    attach.known = {{job, false, 16, false}};
    add(second, 16);
    attach.known.push_back({second, false, 16, false});
    REQUIRE(table.attach(attach, {0, true}));
    Report report = a_report(ChildEvent::Kind::accepted);
    report.events.push_back(report.events[0]);
    report.events[1].seq = 2;
    report.events[1].id = second;
    add(better, 20);  // takes one of the two cores
    (void)table.take();
    for (const JobId id : {second, job}) {  // the worse one comes first
        report.events.push_back(a_report(ChildEvent::Kind::allocated, report.events.size() + 1).events[0]);
        report.events.back().id = id;
    }
    REQUIRE(table.report(report));
    std::vector<JobId> allocated;
    for (const TapOp& op : table.take().tap) {
        if (op.kind == TapOp::Kind::alloc) {
            allocated.push_back(op.id);
        }
    }
    CHECK(allocated == std::vector<JobId>{job});
}

// Mutant: modules/job-route/route_report.cpp: !asked.has(AskedOnce::Step::failure) && => true &&
TEST_CASE("route report: a copy that ended without a reason and without resources was refused: the job waits again") {
    const auto waiting = [](LocalId of_the_end, bool has_failed) {
        RouteTable table = with_a_job();
        Report report = a_report(ChildEvent::Kind::accepted);
        report.events[0].local = LocalId{5};
        REQUIRE(table.report(report));
        if (has_failed) {
            Report failed = a_report(ChildEvent::Kind::exception, 2);
            failed.events[0].type = "exec";
            REQUIRE(table.report(failed));
        }
        Report end = a_report(ChildEvent::Kind::cleaned, has_failed ? 3 : 2);
        end.events[0].local = of_the_end;
        REQUIRE(table.report(end));
        (void)table.take();
        return table.waiting();
    };
    CHECK(waiting(LocalId{5}, false) == 1);
    CHECK(waiting(LocalId{5}, true) == 0);   // its exception comes
    CHECK(waiting(LocalId{4}, false) == 0);  // the end of an earlier copy
}
