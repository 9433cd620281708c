// SPDX-License-Identifier: LGPL-3.0-only
// ChildLink's single reactions; any order of them together is in route_property_test.cpp.
#include <catch2/catch.hpp>

#include "t/unit/job_route/child_link_scene.hpp"

using namespace weir::route;
using namespace weir::route::child_test;
using Kind = JournalEvent::Kind;
using EventKind = ChildEvent::Kind;

namespace {

std::vector<EventKind> told(ChildLink& link) {
    std::vector<EventKind> kinds;
    for (const ChildEvent& event : link.next_report(100)) {
        kinds.push_back(event.kind);
    }
    return kinds;
}

const LocalOp go_op{LocalOp::Kind::go, local, "", ""};

}  // namespace

TEST_CASE("submit: once, however often it is ordered") {
    ChildLink link = attached();
    link.order(an_order(Order::Kind::submit));
    link.order(an_order(Order::Kind::submit));
    CHECK(link.take().submits.size() == 1);
    link.submit_done(job, local);
    link.order(an_order(Order::Kind::submit));
    CHECK(link.take().submits.empty());
}

TEST_CASE("submit: refused for good, refused for now") {
    ChildLink link = attached();
    link.order(an_order(Order::Kind::submit));
    SECTION("for good") {
        link.submit_failed(job, "no such account", false);
        const auto events = link.next_report(10);
        REQUIRE(events.size() == 2);
        CHECK(events[0].note == "the child instance did not take it: no such account");
        CHECK(events[1].kind == EventKind::cleaned);
    }
    SECTION("for now") {
        link.submit_failed(job, "busy", true);
        CHECK(told(link) == std::vector<EventKind>{EventKind::returned, EventKind::cleaned});
    }
    link.acked(10);
    CHECK(link.job_count() == 0U);
}

// Mutant: modules/job-route/child_link.cpp: return job.is_submitting && => return false &&
TEST_CASE("submit: a plugin refused the copy after its event submit: the answer, which comes later, says why") {
    ChildLink link = attached();
    link.order(an_order(Order::Kind::submit));
    link.submitted(local, an_event(Kind::submit), upstream(job));
    link.event(local, an_event(Kind::clean));  // invalidate
    CHECK(link.next_report(10).empty());
    link.submit_failed(job, "no such account", false);
    const auto events = link.next_report(10);
    REQUIRE(events.size() == 2);
    CHECK(events[0].note == "the child instance did not take it: no such account");
    CHECK(events[1].kind == EventKind::cleaned);
    link.acked(events.back().seq);
    CHECK(link.job_count() == 0U);
}

// Kills: a copy told as there while it waits for a priority, so that its cores are given to a worse one.
// Mutant: modules/job-route/child_link.cpp: return event.kind == Kind::priority || => return true ||
TEST_CASE("a copy is there when the scheduler knows it, or when it ended before that") {
    ChildLink link = attached();
    link.order(an_order(Order::Kind::submit));
    link.submitted(local, an_event(Kind::submit), upstream(job));
    link.submit_done(job, local);
    link.event(local, an_event(Kind::urgency));
    CHECK(link.next_report(10).empty());
    SECTION("it has a priority") {
        link.event(local, prioritized());
        CHECK(told(link) == std::vector<EventKind>{EventKind::accepted});
    }
    SECTION("it failed") {
        link.event(local, an_event(Kind::exception, "dependency"));
        CHECK(told(link) == std::vector<EventKind>{EventKind::accepted, EventKind::exception});
    }
}

TEST_CASE("a job's life is told in order, and forgotten when it is acknowledged") {
    ChildLink link = with_a_job();
    JournalEvent alloc = an_event(Kind::alloc);
    alloc.R = "R";
    link.event(local, alloc);
    link.order(an_order(Order::Kind::go));
    CHECK(link.take().ops.at(0).kind == LocalOp::Kind::go);
    link.event(local, an_event(Kind::start));
    JournalEvent finish = an_event(Kind::finish);
    finish.status = 768;
    link.event(local, finish);
    link.event(local, an_event(Kind::clean));
    const auto events = link.next_report(100);
    REQUIRE(events.size() == 5);
    CHECK(events[0].kind == EventKind::accepted);
    CHECK(events[0].local == local);
    CHECK(events[1].R == "R");
    CHECK(events[3].status == 768);
    CHECK(events[4].seq == 5U);
    CHECK(link.next_report(100).empty());
    link.acked(4);
    CHECK(link.job_count() == 1U);
    CHECK(told(link) == std::vector<EventKind>{EventKind::cleaned});
    link.acked(5);
    CHECK(link.job_count() == 0U);
    CHECK(link.unacked() == 0U);
}

TEST_CASE("a new session is told everything again, from sequence number 1") {
    ChildLink link = with_a_job();
    link.event(local, an_event(Kind::alloc));
    (void)link.next_report(100);
    link.acked(2);
    link.lost();
    CHECK(link.next_report(100).empty());
    CHECK(link.known() == std::vector<KnownJob>{{job, false, 16}});
    link.attached();
    const auto events = link.next_report(100);
    REQUIRE(events.size() == 2);
    CHECK(events[0].seq == 1U);
}

// Kills: the parent is not told, or a new session does not say it again, so that the job counts as waiting for cores.
TEST_CASE("a limit of the child's own: each change is told, and a new session says what holds now") {
    ChildLink link = with_a_job();
    const auto gets = [&link](std::int64_t priority) {
        JournalEvent event = an_event(Kind::priority);
        event.priority = priority;
        link.event(local, event);
    };
    gets(0);
    gets(0);
    CHECK(told(link) == std::vector<EventKind>{EventKind::accepted, EventKind::held_back});
    link.acked(2);
    link.lost();
    link.attached();
    CHECK(told(link) == std::vector<EventKind>{EventKind::accepted, EventKind::held_back});
    link.acked(2);
    gets(7);
    gets(8);
    CHECK(told(link) == std::vector<EventKind>{EventKind::admitted});
    link.acked(3);
    link.lost();
    link.attached();
    CHECK(told(link) == std::vector<EventKind>{EventKind::accepted});
    link.acked(1);
    JournalEvent hold = an_event(Kind::urgency);
    hold.urgency = 0;  // its user's word, which the parent knows
    link.event(local, hold);
    gets(0);
    CHECK(told(link).empty());
}

TEST_CASE("go: only for a job that is allocated, and once") {
    ChildLink link = with_a_job();
    link.order(an_order(Order::Kind::go));
    CHECK(link.take().ops.empty());
    link.event(local, an_event(Kind::alloc));
    link.order(an_order(Order::Kind::go));
    link.order(an_order(Order::Kind::go));
    CHECK(link.take().ops.size() == 1);
}

TEST_CASE(
    "an order that this instance could not carry out is repeated while it is needed, with what the parent wants now") {
    ChildLink link = with_a_job();
    SECTION("cancel: until the copy has ended") {
        link.order(an_order(Order::Kind::cancel));
        const auto ops = link.take().ops;
        REQUIRE(ops.size() == 1);
        link.failed(ops[0]);
        link.repeat();
        CHECK(link.take().ops == ops);
        link.failed(ops[0]);
        link.event(local, an_event(Kind::exception, "cancel"));
    }
    SECTION("urgency: not an earlier one, nor when the job has resources") {
        Order change = an_order(Order::Kind::urgency);
        change.urgency = 3;
        link.order(change);
        const auto first = link.take().ops;
        REQUIRE(first.size() == 1);
        link.failed(first[0]);
        change.urgency = 5;
        link.order(change);
        const auto second = link.take().ops;
        link.repeat();
        CHECK(link.take().ops.empty());
        link.failed(second.at(0));
        link.repeat();
        CHECK(link.take().ops == second);
        link.failed(second.at(0));
        link.event(local, an_event(Kind::alloc));
    }
    link.repeat();
    CHECK(link.take().ops.empty());
}

TEST_CASE("go: repeated when the plugin refused it, as long as the prolog is open") {
    ChildLink link = with_a_job();
    link.event(local, an_event(Kind::alloc));
    link.event(local, an_event(Kind::prolog_start, "job-route-go"));
    SECTION("of a job that the parent lets go") {
        link.order(an_order(Order::Kind::go));
    }
    SECTION("of a job that ended while it waited") {
        link.event(local, an_event(Kind::exception, "alloc"));
    }
    CHECK(link.take().ops.size() == 1);
    link.repeat();
    CHECK(link.take().ops.empty());
    for (int i = 0; i < 2; i++) {
        link.failed(go_op);
        CHECK(link.take().ops.empty());
        link.repeat();
        const auto ops = link.take().ops;
        REQUIRE(ops.size() == 1);
        CHECK(ops[0].kind == LocalOp::Kind::go);
        CHECK(ops[0].job == local);
    }
    link.failed(go_op);
    link.event(local, an_event(Kind::prolog_finish, "job-route-go"));
    link.repeat();
    CHECK(link.take().ops.empty());
}

// Mutant: modules/job-route/child_reports.cpp: is_unwanted = job => is_unwanted = job.has_ended && job
TEST_CASE("cancel: a copy that it reached before the start is told as unwanted, also while it has not ended") {
    ChildLink link = with_a_job();
    SECTION("at the parent's word") {
        link.order(an_order(Order::Kind::cancel));
        link.event(local, an_event(Kind::exception, "cancel"));
        CHECK(link.known().at(0).is_unwanted);
        link.event(local, an_event(Kind::clean));
        CHECK(link.known().at(0).is_unwanted);
    }
    SECTION("at the parent's word, after the start") {
        link.event(local, an_event(Kind::start));
        link.order(an_order(Order::Kind::cancel));
        CHECK_FALSE(link.known().at(0).is_unwanted);
    }
    SECTION("at nobody's") {
        link.event(local, an_event(Kind::exception, "exec"));
        link.event(local, an_event(Kind::clean));
        CHECK_FALSE(link.known().at(0).is_unwanted);
    }
}

TEST_CASE("cancel: while it is being submitted it is remembered, and raised once") {
    ChildLink link = attached();
    link.order(an_order(Order::Kind::submit));
    link.order(an_order(Order::Kind::cancel));
    CHECK(link.take().ops.empty());
    link.submit_done(job, local);
    const auto ops = link.take().ops;
    REQUIRE(ops.size() == 1);
    CHECK(ops[0].kind == LocalOp::Kind::raise);
    link.order(an_order(Order::Kind::cancel));
    CHECK(link.take().ops.empty());
}

TEST_CASE("an exception: asked for, unasked before the start, unasked after it") {
    ChildLink link = with_a_job();
    link.event(local, an_event(Kind::alloc));
    SECTION("asked for") {
        link.order(an_order(Order::Kind::cancel));
        link.event(local, an_event(Kind::exception, "cancel"));
        CHECK(told(link).back() == EventKind::exception);
    }
    SECTION("unasked, not started: given back") {
        link.event(local, an_event(Kind::exception, "cancel"));
        CHECK(told(link).back() == EventKind::returned);
        link.event(local, an_event(Kind::exception, "timeout"));  // the parent may have given the job away by now
        CHECK(told(link).empty());
    }
    SECTION("unasked, started") {
        link.event(local, an_event(Kind::start));
        link.event(local, an_event(Kind::exception, "cancel"));
        CHECK(told(link).back() == EventKind::exception);
    }
    SECTION("another reason") {
        link.event(local, an_event(Kind::exception, "alloc"));
        CHECK(told(link).back() == EventKind::exception);
    }
    SECTION("not fatal") {
        JournalEvent warning = an_event(Kind::exception, "warning");
        warning.severity = 5;
        link.event(local, warning);
        CHECK(told(link).back() == EventKind::allocated);
    }
}

// Mutant: modules/job-route/child_link.cpp: is_new = true; => (void)is_new;
TEST_CASE("a job that was given up and is submitted again before that is acknowledged is the new copy") {
    ChildLink link = with_a_job();
    link.event(local, an_event(Kind::exception, "cancel"));
    CHECK(told(link).back() == EventKind::returned);
    const LocalId again{6};
    JournalEvent submit = an_event(Kind::submit);
    submit.urgency = 20;
    link.submitted(again, submit, upstream(job));
    CHECK(link.known() == std::vector<KnownJob>{{job, false, 20}});
    CHECK(link.local_of(job) == again);
    link.acked(2);  // accepted and returned, of the first copy
    link.event(local, an_event(Kind::clean));
    link.event(again, an_event(Kind::alloc));
    CHECK(told(link) == std::vector<EventKind>{EventKind::accepted, EventKind::allocated});
}

TEST_CASE("a job that was given up is forgotten with the acknowledgement, so that it can come back") {
    ChildLink link = with_a_job();
    link.event(local, an_event(Kind::exception, "cancel"));
    (void)link.next_report(100);
    link.acked(2);
    CHECK(link.job_count() == 0U);
    link.event(local, an_event(Kind::clean));
    CHECK(link.next_report(100).empty());
    link.order(an_order(Order::Kind::submit));
    CHECK(link.take().submits.size() == 1);
}

TEST_CASE("a job that ended here and is sent again, before the acknowledgement, is submitted again") {
    ChildLink link = with_a_job();
    link.event(local, an_event(Kind::exception, "cancel"));
    link.event(local, an_event(Kind::clean));
    (void)link.next_report(100);
    link.order(an_order(Order::Kind::submit));
    CHECK(link.take().submits.size() == 1);
    link.submit_done(job, LocalId{6});
    link.event(LocalId{6}, prioritized());
    link.acked(3);
    CHECK(link.job_count() == 1U);
    CHECK(told(link) == std::vector<EventKind>{EventKind::accepted});
}

TEST_CASE("the journal alone: after a restart the job is here and is not submitted again") {
    ChildLink link;
    link.submitted(local, an_event(Kind::submit), upstream(job));
    link.event(local, an_event(Kind::alloc));
    JournalEvent urgency = an_event(Kind::urgency);
    urgency.urgency = 9;
    link.event(local, urgency);
    link.synced();
    CHECK(link.known() == std::vector<KnownJob>{{job, false, 9}});
    link.attached();
    link.order(an_order(Order::Kind::submit));
    CHECK(link.take().submits.empty());
    CHECK(told(link) == std::vector<EventKind>{EventKind::accepted, EventKind::allocated});
}

TEST_CASE("a job that ended while its prolog is open is let go, also if that was before a restart") {
    ChildLink link;
    link.submitted(local, an_event(Kind::submit), upstream(job));
    link.event(local, an_event(Kind::alloc));
    link.event(local, an_event(Kind::prolog_start, "job-route-go"));
    SECTION("it ended before the restart") {
        link.event(local, an_event(Kind::exception, "cancel"));
        CHECK(link.take().ops.empty());
        link.synced();
    }
    SECTION("it ends after it") {
        link.synced();
        CHECK(link.take().ops.empty());
        link.event(local, an_event(Kind::exception, "cancel"));
    }
    const auto ops = link.take().ops;
    REQUIRE(ops.size() == 1);
    CHECK(ops[0].kind == LocalOp::Kind::go);
    CHECK(ops[0].job == local);
}

TEST_CASE("a job whose prolog is closed, or that is not ending, is not let go by itself") {
    ChildLink link;
    link.submitted(local, an_event(Kind::submit), upstream(job));
    link.event(local, an_event(Kind::alloc));
    link.event(local, an_event(Kind::prolog_start, "job-route-go"));
    SECTION("closed") {
        link.event(local, an_event(Kind::prolog_finish, "job-route-go"));
        link.event(local, an_event(Kind::exception, "cancel"));
    }
    SECTION("another's prolog is closed") {
        link.event(local, an_event(Kind::prolog_finish, "site"));
    }
    link.synced();
    CHECK(link.take().ops.empty());
}

TEST_CASE("a second copy is cancelled, gets no go, and tells nothing") {
    ChildLink link = with_a_job();
    constexpr LocalId copy{6};
    link.submitted(copy, an_event(Kind::submit), upstream(job));
    const auto ops = link.take().ops;
    REQUIRE(ops.size() == 1);
    CHECK(ops[0].job == copy);
    CHECK(ops[0].kind == LocalOp::Kind::raise);
    link.event(copy, an_event(Kind::alloc));
    CHECK(told(link) == std::vector<EventKind>{EventKind::accepted});
}

TEST_CASE("a second copy in the backlog is cancelled when the backlog is complete, unless it has ended") {
    ChildLink link;
    link.submitted(LocalId{5}, an_event(Kind::submit), upstream(job));
    link.submitted(LocalId{6}, an_event(Kind::submit), upstream(job));
    link.submitted(LocalId{7}, an_event(Kind::submit), upstream(job));
    link.event(LocalId{7}, an_event(Kind::clean));
    CHECK(link.take().ops.empty());
    link.synced();
    const auto ops = link.take().ops;
    REQUIRE(ops.size() == 1);
    CHECK(ops[0].job == LocalId{6});
}

TEST_CASE("priority: each change is told once, the first before the submission") {
    ChildLink link = attached();
    Order submit = an_order(Order::Kind::submit);
    submit.priority = 50;
    link.order(submit);
    const ChildActions actions = link.take();
    CHECK(actions.priorities == std::vector<GivenPriority>{{job, 50}});
    CHECK(actions.submits.size() == 1);
    link.submit_done(job, local);
    Order change = an_order(Order::Kind::priority);
    change.priority = 50;
    link.order(change);
    CHECK(link.take().priorities.empty());
    change.priority = 60;
    link.order(change);
    CHECK(link.take().priorities == std::vector<GivenPriority>{{job, 60}});
    CHECK(link.priorities() == std::vector<GivenPriority>{{job, 60}});
    link.event(local, an_event(Kind::clean));
    CHECK(link.take().priorities == std::vector<GivenPriority>{{job, std::nullopt}});
    CHECK(link.priorities().empty());
}

TEST_CASE("complete: when the parent said so and each of its jobs has been submitted or refused here") {
    ChildLink link = attached();
    link.order(an_order(Order::Kind::submit));
    link.order(an_order(Order::Kind::complete));
    CHECK_FALSE(link.is_complete());
    SECTION("submitted") {
        link.submit_done(job, local);
    }
    SECTION("refused") {
        link.submit_failed(job, "why", false);
        CHECK(link.take().priorities.back() == GivenPriority{job, std::nullopt});
    }
    CHECK(link.is_complete());
}

TEST_CASE("complete: what the parent said in a session does not outlive its link") {
    ChildLink link = attached();
    link.order(an_order(Order::Kind::submit));
    link.order(an_order(Order::Kind::complete));
    link.lost();
    link.submit_done(job, local);
    CHECK_FALSE(link.is_complete());
    link.attached();
    CHECK_FALSE(link.is_complete());
    link.order(an_order(Order::Kind::complete));
    CHECK(link.is_complete());
}
