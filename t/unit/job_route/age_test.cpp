// SPDX-License-Identifier: LGPL-3.0-only
// Jobs of equal priority: their age is that of the job that their user submitted, at whatever level.
#include <catch2/catch.hpp>

#include "modules/job-route/hand_down.hpp"
#include "t/unit/job_route/route_scene.hpp"

using namespace weir::route;
using namespace weir::route::test;

namespace {

weir::Instant at_minute(int minute) {
    return weir::Instant{std::chrono::minutes(minute)};
}

/// What a child is told of a job that came here at minute 5, as the copy of one of minute 3 if it came from above.
weir::Instant told_age(bool has_parent, bool is_from_above) {
    RouteTable table(has_parent);
    table.synced();
    run_host(table, host);
    REQUIRE(table.attach(an_attach(host), {0, true}));
    JournalEvent submit = an_event(Kind::submit);
    submit.at = at_minute(5);
    JobFacts facts;
    facts.queue = "batch";
    facts.upstream = is_from_above ? 900 : 0;
    facts.upstream_submit = at_minute(3);  // in the jobspec of a job that did not come from above it means nothing
    table.submitted(job, submit, facts);
    table.event(job, an_event(Kind::bypass));
    table.event(job, an_event(Kind::priority));
    record_route(table, job, host);
    table.jobspec_ready(job, "{}");
    for (const auto& [child, order] : table.take().orders) {
        if (order.kind == Order::Kind::submit) {
            return order.submit;
        }
    }
    return {};
}

}  // namespace

// A job that came from above has an id of this instance, which says nothing of its age.
// Mutant: modules/job-route/hand_down.hpp: record.job.priority, record.job.submit, => record.job.priority, {},
TEST_CASE("age: of equal priorities the one that its user submitted first, then the lower id") {
    HandDown plan(1);
    plan.set_child(host, {{"batch"}, 2, 0, true});
    const auto wait = [&plan](std::uint64_t id, int minute) {
        HandDown::Job waiting{HandDown::Standing::waits, {}, 16, 2, "batch", true};
        waiting.submit = at_minute(minute);
        plan.set(JobId{id}, waiting);
    };
    const auto first = [&plan] {
        return plan
            .plan({[](JobId, JobId) { return true; }, [](const HandDown::JobClass&) { return HandDown::Takers{2}; },
                   [](int, int) { return true; }})
            .front();
    };
    wait(11, 2);
    wait(12, 1);
    CHECK(first().id == JobId{12});
    wait(12, 2);
    CHECK(first().id == JobId{11});
}

TEST_CASE("age: a copy of a copy is as old as the job at the top") {
    CHECK(told_age(true, true) == at_minute(3));
    CHECK(told_age(true, false) == at_minute(5));
    CHECK(told_age(false, true) == at_minute(5));
}
