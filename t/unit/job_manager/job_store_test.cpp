// SPDX-License-Identifier: LGPL-3.0-only
// The job journal: what was written is read back; a torn end is forgiven, anything else is not.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>

#include "broker/services/job-manager/job_store.hpp"
#include "t/unit/job_manager/testing.hpp"

using namespace weir::broker::jobs;
using namespace weir::broker::jobs::testing;

namespace {

struct TempDir {
    std::string path;
    TempDir() {
        char name[] = "/tmp/weir-job-store-XXXXXX";
        path = ::mkdtemp(name);
    }
    ~TempDir() { (void)!std::system(("rm -rf " + path).c_str()); }
};

std::string journal_of(Life& life) {
    std::string text = journal_header(0, 0);
    append_job(text, life.job);
    return text;
}

}  // namespace

TEST_CASE("journal: a job comes back as it was") {
    Life life(77);
    life.job.sequence = 4;
    set_jobspec(life.job, life.pool, jobspec_text(R"("duration":3,"environment":{"A":"b"})"));
    life.job.r.make().text = R"({"version":1,"execution":{"R_lite":[{"rank":"0","children":{"core":"0-1"}}]}})";
    life.to_run();
    (void)life.post("memo", R"({"x":1})");
    EnvironmentPool pool;
    auto read = read_journal(journal_of(life), "j", pool);
    REQUIRE(read);
    REQUIRE(read->jobs.size() == 1);
    const Job& job = *read->jobs[0];
    CHECK(job.state == State::Run);
    CHECK(job.eventlog == life.job.eventlog);
    CHECK(job.sequence == 4);
    CHECK(job.jobspec_text.redacted == life.job.jobspec_text.redacted);
    CHECK(*job.jobspec_text.environment == R"({"A":"b"})");
    CHECK(job.r->facts.ncores == 2);
    CHECK(job.annotations.text() == R"({"user":{"x":1}})");
    CHECK(read->next_sequence == 5);
    CHECK(read->max_id == 77);
    CHECK(read->last_us == life.now_us);
}

TEST_CASE("journal: updates are applied once, also after a compaction") {
    Life life(8);
    life.to_sched();
    REQUIRE(life.post("jobspec-update", R"({"attributes.system.queue":"late"})"));
    EnvironmentPool pool;
    auto once = read_journal(journal_of(life), "j", pool);
    REQUIRE(once);
    std::string again = journal_header(0, 0);
    append_job(again, *once->jobs[0]);
    CHECK(again == journal_of(life));
    CHECK(once->jobs[0]->facts.queue == "late");
}

TEST_CASE("journal: who was handed to the executor is known again, and his eventlog does not tell") {
    Life life(9);
    life.to_sched();
    (void)life.post("alloc");
    std::string text = journal_of(life);
    append_journal_line(text, life.job, encode(Event{life.now_us + 1, launch_mark, {}}));
    EnvironmentPool pool;
    auto once = read_journal(text, "j", pool);
    REQUIRE(once);
    CHECK(once->jobs[0]->was_launched);
    CHECK(once->jobs[0]->eventlog == life.job.eventlog);
    std::string compact = journal_header(0, 0);
    append_job(compact, *once->jobs[0]);
    auto again = read_journal(compact, "j", pool);
    REQUIRE(again);
    CHECK(again->jobs[0]->was_launched);
}

TEST_CASE("journal: an invalidated job is not there") {
    Life life(5);
    REQUIRE(life.post("submit", R"({"userid":7,"urgency":16,"flags":0})"));
    REQUIRE(life.post("invalidate"));
    EnvironmentPool pool;
    CHECK(read_journal(journal_of(life), "j", pool)->jobs.empty());
}

TEST_CASE("journal: a torn last line is dropped with a warning") {
    Life life(6);
    life.to_sched();
    std::string text = journal_of(life);
    text.resize(text.size() - 7);
    EnvironmentPool pool;
    auto read = read_journal(text, "jobs.journal", pool);
    REQUIRE(read);
    CHECK(read->warning.starts_with("jobs.journal:5:"));
    CHECK(read->jobs[0]->state == State::Priority);
}

TEST_CASE("journal: a corrupt line refuses the file with its number") {
    Life life(6);
    life.to_sched();
    EnvironmentPool pool;
    std::string text = journal_of(life);
    text.replace(text.find("\"validate\""), 4, "\x01\x01\x01\x01");
    auto read = read_journal(text, "jobs.journal", pool);
    REQUIRE_FALSE(read);
    CHECK(read.error().message.starts_with("jobs.journal:3: "));
    CHECK_FALSE(read_journal("{}\n", "j", pool));
    CHECK_FALSE(read_journal(journal_header(0, 0) + "{\"id\":1,\"event\":{\"timestamp\":1.0,\"name\":\"depend\"}}\n",
                             "j", pool));
}

TEST_CASE("store: appends survive, compaction drops what is gone, a second opener is refused") {
    TempDir dir;
    EnvironmentPool pool;
    Life life(6);
    life.to_sched();
    {
        RestoredJobs restored;
        auto store = JobStore::open(dir.path, pool, restored);
        REQUIRE(store);
        CHECK(restored.jobs.empty());
        JobTable empty;
        REQUIRE((*store)->compact(empty, 3));
        std::string_view lines = life.job.eventlog;
        while (!lines.empty()) {
            (*store)->append(life.job, lines.substr(0, lines.find('\n')));
            lines.remove_prefix(lines.find('\n') + 1);
        }
        REQUIRE((*store)->flush());
        RestoredJobs other;
        CHECK_FALSE(JobStore::open(dir.path, pool, other));
    }
    RestoredJobs restored;
    auto store = JobStore::open(dir.path, pool, restored);
    REQUIRE(store);
    REQUIRE(restored.jobs.size() == 1);
    CHECK(restored.jobs[0]->state == State::Sched);
    JobTable empty;
    REQUIRE((*store)->compact(empty, 9));
    std::ifstream file(dir.path + "/jobs.journal");
    std::string first;
    std::getline(file, first);
    CHECK(first == R"({"weir-jobs":1,"max_jobid":0,"next_seq":9})");
    CHECK(file.peek() == EOF);
}
