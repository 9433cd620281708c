// SPDX-License-Identifier: LGPL-3.0-only
// What ChildLink makes of the parent's orders of an urgency.
#include <catch2/catch.hpp>
#include <vector>

#include "t/unit/job_route/child_link_scene.hpp"

using namespace weir::route;
using namespace weir::route::child_test;
using Kind = JournalEvent::Kind;

TEST_CASE("urgency: only a change, only before allocation") {
    ChildLink link = with_a_job();
    Order order = an_order(Order::Kind::urgency);
    order.urgency = 16;
    link.order(order);
    CHECK(link.take().ops.empty());
    order.urgency = 20;
    link.order(order);
    CHECK(link.take().ops.at(0).urgency == 20);
    link.event(local, an_event(Kind::alloc));
    order.urgency = 21;
    link.order(order);
    CHECK(link.take().ops.empty());
}

// Kills: a job that its user held while its copy was being submitted, and whose copy nobody holds.
// Mutant: modules/job-route/child_link.cpp: urgency != job.urgency || urgency != job.local_urgency => urgency !=
// job.local_urgency
TEST_CASE("urgency: the last order counts, though the journal tells of earlier ones meanwhile") {
    ChildLink link = with_a_job();
    std::vector<int> sent;
    const auto order = [&](int urgency) {
        Order change = an_order(Order::Kind::urgency);
        change.urgency = urgency;
        link.order(change);
        for (const LocalOp& op : link.take().ops) {
            sent.push_back(op.urgency);
        }
    };
    const auto journal_has = [&](int urgency) {
        JournalEvent event = an_event(Kind::urgency);
        event.urgency = urgency;
        link.event(local, event);
    };
    order(0);
    journal_has(0);
    order(16);
    order(0);
    journal_has(16);
    order(16);
    journal_has(0);
    CHECK(sent == std::vector<int>{0, 16, 0, 16});
    SECTION("the copy was changed by somebody else: the parent's order is carried out") {
        journal_has(16);
        journal_has(3);
        order(16);
        CHECK(sent.back() == 16);
        CHECK(sent.size() == 5);
    }
}

TEST_CASE("urgency: a change on the way of the submission is made when the copy is there") {
    for (const bool is_journal_first : {false, true}) {
        ChildLink link = attached();
        link.order(an_order(Order::Kind::submit));
        Order hold = an_order(Order::Kind::urgency);
        hold.urgency = 0;
        link.order(hold);
        CHECK(link.take().ops.empty());
        JournalEvent submit = an_event(Kind::submit);
        submit.urgency = 16;
        if (is_journal_first) {
            link.submitted(local, submit, upstream(job));
        }
        link.submit_done(job, local);
        link.submitted(local, submit, upstream(job));
        const auto ops = link.take().ops;
        REQUIRE(ops.size() == 1);
        CHECK(ops[0].kind == LocalOp::Kind::urgency);
        CHECK(ops[0].job == local);
        CHECK(ops[0].urgency == 0);
    }
    ChildLink restarted;
    JournalEvent submit = an_event(Kind::submit);
    submit.urgency = 9;
    restarted.submitted(local, submit, upstream(job));
    restarted.synced();
    CHECK(restarted.take().ops.empty());
}
