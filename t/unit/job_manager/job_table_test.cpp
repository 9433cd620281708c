// SPDX-License-Identifier: LGPL-3.0-only
// The table of jobs: counts, history limits, list order, ids.
#include <catch2/catch.hpp>
#include <set>

#include "broker/services/job-manager/tables/job_attrs.hpp"
#include "broker/services/job-manager/tables/job_table.hpp"
#include "t/unit/job_manager/testing.hpp"

using weir::Json;
using namespace weir::broker::jobs;
using namespace weir::broker::jobs::testing;

namespace {

/// Moves a finished or pending life into the table.
Job& put(JobTable& table, Life& life) {
    Job& job = table.add(std::make_unique<Job>(std::move(life.job)));
    table.count(job, State::created);
    if (job.state == State::inactive) {
        table.retire(job);
    }
    return job;
}

}  // namespace

TEST_CASE("table: history keeps the newest; counts follow") {
    JobTable table;
    for (JobId id = 1; id <= 5; ++id) {
        Life life(id);
        life.now_us += static_cast<std::int64_t>(id) * 1000000;
        life.to_inactive(id == 3 ? 1 : 0);
        put(table, life);
    }
    CHECK(table.counts().successful == 4);
    CHECK(table.counts().failed == 1);
    CHECK(table.purgeable(0, -1, 2) == 3);
    CHECK(table.purgeable(0, -1, -1) == 0);
    CHECK(table.purgeable(1700000004500000, 1.0, -1) == 3);
    CHECK(table.purge_oldest()->id == 1);
    CHECK(table.purge(3)->id == 3);
    CHECK(table.counts().failed == 0);
    CHECK(table.counts().purged == 2);
    CHECK(table.find(3) == nullptr);
    CHECK(table.inactive_count() == 3);
}

TEST_CASE("table: a list goes pending by priority, running latest first, ended latest first") {
    JobTable table;
    std::vector<std::unique_ptr<Life>> lives;
    const auto add = [&](JobId id, int step, int priority) {
        Life life(id);
        life.now_us += static_cast<std::int64_t>(id) * 1000000;
        if (step == 0) {
            life.to_sched(16, priority);
        } else if (step == 1) {
            life.to_run();
        } else {
            life.to_inactive();
        }
        put(table, life);
    };
    add(1, 2, 0);
    add(2, 2, 0);
    add(3, 1, 0);
    add(4, 1, 0);
    add(5, 0, 10);
    add(6, 0, 20);
    add(7, 0, 20);
    ListQuery query{*compile_constraint(nullptr)};
    std::vector<JobId> ids;
    for (const Job* job : list_jobs(table, query)) {
        ids.push_back(job->id);
    }
    CHECK(ids == std::vector<JobId>{6, 7, 5, 4, 3, 2, 1});
    query.entries_max = 2;
    CHECK(list_jobs(table, query).size() == 2);
    query.entries_max = 0;
    query.since_us = 1700000001500000;
    CHECK(list_jobs(table, query).back()->id == 2);
}

TEST_CASE("table: a list that has made too many comparisons looks at no other job") {
    JobTable table;
    for (const JobId id : {1, 2, 3, 4}) {
        Life life(id);
        if (id % 2 == 0) {
            life.to_sched();
        } else {
            life.to_inactive();
        }
        put(table, life);
    }
    for (const std::size_t max : {1, 2, 3}) {
        Comparisons comparisons(max);
        std::size_t looks = 0;
        ListQuery query{[&](const Job&) { return ++looks > 0 && comparisons.spend(1); }};
        query.comparisons = &comparisons;
        (void)list_jobs(table, query);
        CHECK(looks == max + 1);
    }
}

TEST_CASE("table: a job that changes its queue is counted there, in its new state") {
    JobTable table;
    Life life(1);
    set_jobspec(life.job, life.pool, jobspec_text(R"("duration":1,"queue":"a")"));
    life.to_sched();
    Job& job = put(table, life);
    const std::string old_queue = job.facts.queue;
    REQUIRE(transition(job, {1800000000000000, "jobspec-update", json(R"({"attributes.system.queue":"b"})")}));
    table.recount_queue(job, old_queue, State::sched);
    table.count(job, State::sched);
    CHECK(table.counts_by_queue().at("a").states[3] == 0);
    CHECK(table.counts_by_queue().at("b").states[3] == 0);
    CHECK(table.counts_by_queue().at("b").states[2] == 1);
    CHECK(table.counts().states[2] == 1);
}

TEST_CASE("table: jobs in RUN or CLEANUP are found apart from those that wait or ended") {
    JobTable table;
    Life waiting(1), launched(2), dropped(3);
    waiting.to_sched();
    launched.to_run();
    dropped.to_run();
    put(table, waiting);
    Job& job = put(table, launched);
    put(table, dropped);
    CHECK(table.running() == 2);
    table.drop(3);
    REQUIRE(table.running_jobs().size() == 1);
    CHECK(table.running_jobs().at(2) == &job);
    for (const char* name : {"exception", "free", "clean"}) {
        const State before = job.state;
        const char* context =
            std::string(name) == "exception" ? R"({"type":"cancel","severity":0,"note":""})" : nullptr;
        REQUIRE(transition(job, {1800000000000000, name, context == nullptr ? Json() : json(context)}));
        table.count(job, before);
        CHECK(table.running() == (job.state == State::inactive ? 0 : 1));
    }
    table.retire(job);
    CHECK(table.running_jobs().empty());
    CHECK(table.active_count() == 1);
}

TEST_CASE("ids: grow, also within a millisecond, also after a restart") {
    IdGenerator ids(0, 5000000);
    JobId last = 0;
    for (int i = 0; i < 3000; ++i) {
        const JobId id = ids.next(5000000);
        REQUIRE(id > last);
        last = id;
    }
    IdGenerator later(last, 0);
    CHECK(later.next(0) > last);
}

TEST_CASE("ids: no two of a root and its partitions are equal, whenever each began") {
    const JobId first = JobId{1} << 24;
    std::set<JobId> seen;
    std::size_t all = 0;
    for (JobId in_parent : {JobId{0}, first, first + 1, first + 2, first << 1, (first << 1) + 1}) {
        IdGenerator ids(0, 5000000, id_generator_of(in_parent));
        JobId last = 0;
        for (int i = 0; i < 3000; ++i, ++all) {
            const JobId id = ids.next(5000000);
            REQUIRE(id > last);
            last = id;
            seen.insert(id);
        }
        IdGenerator later(last, 0, id_generator_of(in_parent));
        CHECK(later.next(0) > last);
    }
    CHECK(seen.size() == all);
    CHECK(id_generator_of(0) == 0);
    CHECK(id_generator_of(first) != 0);
}
