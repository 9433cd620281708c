// SPDX-License-Identifier: LGPL-3.0-only
// What becomes of a journal's jobs at a restart.
#include "broker/services/job-manager/journal/restart.hpp"

#include <catch2/catch.hpp>

#include "t/unit/job_manager/testing.hpp"

using namespace weir::broker::jobs;
using namespace weir::broker::jobs::testing;

namespace {

void add(RestoredJobs& restored, Life& life) {
    restored.jobs.push_back(std::make_unique<Job>(std::move(life.job)));
}

std::vector<JobId> ids_of(const std::vector<Job*>& jobs) {
    std::vector<JobId> ids;
    ids.reserve(jobs.size());
    for (const Job* job : jobs) {
        ids.push_back(job->id);
    }
    return ids;
}

}  // namespace

TEST_CASE("restart: active and ended jobs are taken up, one without an answer to its submitter is not") {
    Life unanswered(1), pending(2), running(3), ended(4);
    pending.to_sched();
    running.to_run();
    ended.to_inactive();
    RestoredJobs restored;
    restored.max_id = 9;  // of a purged job
    for (Life* life : {&unanswered, &pending, &running, &ended}) {
        add(restored, *life);
    }
    JobTable table;
    CHECK(ids_of(take_up(table, restored)) == std::vector<JobId>{2, 3});
    CHECK(table.find(1) == nullptr);
    CHECK(table.inactive(4) != nullptr);
    CHECK(table.max_id() == 9);
    CHECK(table.counts().successful == 1);
    CHECK(table.running() == 1);
}

TEST_CASE("restart: jobs with resources go on first; those without a process are idle; eligible ones are last") {
    Life pending(1), launched(2), held(3), cleaning(4), later(5), dependent(6);
    pending.to_sched();
    launched.to_run();
    held.to_sched();
    (void)held.post("alloc");
    cleaning.to_run();
    (void)cleaning.post("finish", "{\"status\":0}");
    later.to_sched();
    (void)dependent.post("submit", R"({"userid":7,"urgency":16,"flags":0,"version":1})");
    (void)dependent.post("validate");
    const RestartOrder order =
        restart_order({&pending.job, &launched.job, &held.job, &cleaning.job, &later.job, &dependent.job});
    CHECK(ids_of(order.left) == std::vector<JobId>{2, 3, 4});
    CHECK(order.idle == std::vector<JobId>{3, 4});
    CHECK(ids_of(order.others) == std::vector<JobId>{6});
    CHECK(order.eligible == std::vector<JobId>{1, 5});
}

TEST_CASE("restart: the event of an idle job says how long the broker was not there") {
    const Event event = down_event(1'000'000, 3'500'000);
    CHECK(encode(event) == R"({"timestamp":3.500000,"name":"weir.down","context":{"seconds":2.5}})");
}
