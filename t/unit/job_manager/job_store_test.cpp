// SPDX-License-Identifier: LGPL-3.0-only
// The job journal: what was written is read back; a torn end is forgiven, anything else is not.
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <fstream>

#include "t/unit/job_manager/journal_testing.hpp"

using namespace weir::broker::jobs;
using namespace weir::broker::jobs::testing;

namespace {

/// While it lives, no file of this process grows beyond `bytes` (EFBIG): a disk that is full, without one.
class FileSizeLimit {
  public:
    explicit FileSizeLimit(std::uint64_t bytes) {
        std::signal(SIGXFSZ, SIG_IGN);
        ::getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit limit{bytes, before_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FileSizeLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }

  private:
    rlimit before_{};
};

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
    CHECK(job.state == State::run);
    CHECK(job.eventlog == life.job.eventlog);
    CHECK(job.sequence == 4);
    CHECK(job.jobspec_text.redacted == life.job.jobspec_text.redacted);
    CHECK(*job.jobspec_text.environment == R"({"A":"b"})");
    CHECK(job.r->facts.ncores == 2);
    CHECK(job.annotations.dump() == R"({"user":{"x":1}})");
    CHECK(read->next_sequence == 5);
    CHECK(read->max_id == 77);
    CHECK(read->last_us == life.now_us);
}

TEST_CASE("journal: an environment is written once, and each job has it again") {
    EnvironmentPool shell;
    JournalWriter writer;
    writer.begin(0, 0);
    for (JobId id = 1; id <= 3; ++id) {
        Life life(id);
        const char* value = id == 3 ? "other" : "same";
        set_jobspec(life.job, shell, jobspec_text(R"("duration":3,"environment":{"A":")" + std::string(value) + "\"}"));
        life.to_sched();
        writer.add(life.job);
    }
    const std::string text = writer.text();
    CHECK(text.find("same") != std::string::npos);
    EnvironmentPool pool;
    auto read = read_journal(text, "j", pool);
    REQUIRE(read);
    REQUIRE(read->jobs.size() == 3);
    CHECK(*read->jobs[0]->jobspec_text.environment == R"({"A":"same"})");
    CHECK(*read->jobs[1]->jobspec_text.environment == R"({"A":"same"})");
    CHECK(*read->jobs[2]->jobspec_text.environment == R"({"A":"other"})");
    CHECK(pool.size() == 2);
}

TEST_CASE("journal: an environment that lives on in a job is named by its line, whatever was between") {
    EnvironmentPool shell;
    Life first(1);
    Life second(2);
    for (Life* life : {&first, &second}) {
        set_jobspec(life->job, shell, jobspec_text(R"("duration":3,"environment":{"A":"same"})"));
        life->to_sched();
    }
    JournalWriter writer;
    writer.begin(0, 0);
    writer.add(first.job);
    writer.clear_text();
    writer.add(second.job);
    CHECK(writer.text().find(R"("environment_of":1,)") != std::string::npos);
    CHECK(writer.text().find("same") == std::string::npos);
    EnvironmentPool pool;
    auto read = read_journal(journal_of(first) + writer.text(), "j", pool);
    REQUIRE(read);
    CHECK(*read->jobs[1]->jobspec_text.environment == R"({"A":"same"})");
}

TEST_CASE("journal: a restored job's jobspec is its text; what it says is known without a tree") {
    Life life(3);
    set_jobspec(life.job, life.pool, jobspec_text(R"("duration":3,"exec":{"test":{"run_duration":"1s"}})"));
    life.to_sched();
    EnvironmentPool pool;
    auto read = read_journal(journal_of(life), "j", pool);
    REQUIRE(read);
    const Job& job = *read->jobs[0];
    CHECK_FALSE(job.jobspec);
    CHECK(job.facts.is_simulated);
    CHECK(jobspec_tree(job).dump() == life.job.jobspec.dump());
}

TEST_CASE("journal: updates are applied once, also after a compaction") {
    Life life(8);
    life.to_sched();
    REQUIRE(life.post("jobspec-update", R"({"attributes.system.queue":"late"})"));
    EnvironmentPool pool;
    auto once = read_journal(journal_of(life), "j", pool);
    REQUIRE(once);
    CHECK(journal_of(*once->jobs[0]) == journal_of(life));
    CHECK(once->jobs[0]->facts.queue == "late");
}

TEST_CASE("journal: who was handed to the executor is known again, and his eventlog does not tell") {
    Life life(9);
    life.to_sched();
    (void)life.post("alloc");
    JournalWriter writer;
    writer.begin(0, 0);
    writer.add(life.job);
    writer.add(life.job, encode(Event{life.now_us + 1, launch_mark, {}}));
    const std::string& text = writer.text();
    EnvironmentPool pool;
    auto once = read_journal(text, "j", pool);
    REQUIRE(once);
    CHECK(once->jobs[0]->was_launched);
    CHECK(once->jobs[0]->eventlog == life.job.eventlog);
    const std::string compact = journal_of(*once->jobs[0]);
    auto again = read_journal(compact, "j", pool);
    REQUIRE(again);
    CHECK(again->jobs[0]->was_launched);
}

// Mutant: broker/services/job-manager/state/transition.cpp: job.was_launched = event.name == launch_mark; =>
// job.was_launched = true;
TEST_CASE("journal: who was handed to an executor that was not there was not launched, until he is handed over again") {
    Life life(9);
    life.to_sched();
    (void)life.post("alloc");
    JournalWriter writer;
    writer.begin(0, 0);
    writer.add(life.job);
    const auto read_with = [&](const char* mark) {
        writer.add(life.job, encode(Event{++life.now_us, mark, {}}));
        EnvironmentPool pool;
        auto read = read_journal(writer.text(), "j", pool);
        REQUIRE(read);
        CHECK(read->jobs[0]->eventlog == life.job.eventlog);
        return std::pair(read->jobs[0]->was_launched, journal_of(*read->jobs[0]) == journal_of(life));
    };
    CHECK(read_with(launch_mark) == std::pair(true, false));
    CHECK(read_with(launch_refused_mark) == std::pair(false, true));
    CHECK(read_with(launch_mark) == std::pair(true, false));
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
    CHECK(read->jobs[0]->state == State::priority);
}

TEST_CASE("journal: any change, loss or exchange of lines refuses the file with its number and what to do") {
    Life life(6);
    life.to_inactive();
    const std::vector<std::string> lines = lines_of(journal_of(life));
    REQUIRE(lines.size() == 11);
    const auto refused_at = [](const std::vector<std::string>& changed, std::size_t number) {
        EnvironmentPool pool;
        const auto read = read_journal(joined(changed) + next_flush(11), "jobs.journal", pool);
        REQUIRE_FALSE(read);
        INFO(read.error().message);
        CHECK(read.error().message.starts_with("jobs.journal:" + std::to_string(number) + ": "));
        CHECK(read.error().message.find("head -n " + std::to_string(number - 1) + " jobs.journal") !=
              std::string::npos);
    };
    for (std::size_t i = 0; i < lines.size(); ++i) {
        auto changed = lines;
        changed[i][changed[i].size() / 2] ^= 1;
        refused_at(changed, i + 1);
        if (i + 1 == lines.size()) {
            continue;
        }
        changed = lines;
        changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(i));
        refused_at(changed, i + 1);
        changed = lines;
        std::swap(changed[i], changed[i + 1]);
        refused_at(changed, i + 1);
        changed = lines;
        changed.insert(changed.begin() + static_cast<std::ptrdiff_t>(i), lines[i]);
        refused_at(changed, i + 2);
    }
    EnvironmentPool pool;
    CHECK_FALSE(read_journal("{}\n", "j", pool));
}

TEST_CASE("journal: version 1 is read, but no time that no clock has shown") {
    const std::string head = "{\"weir-jobs\":1,\"max_jobid\":5,\"next_seq\":1}\n";
    const auto submit = [](const std::string& time) {
        return "{\"id\":5,\"event\":{\"timestamp\":" + time +
               ",\"name\":\"submit\",\"context\":{\"userid\":1,\"urgency\":16,\"flags\":0}},\"seq\":0,\"jobspec\":{}}"
               "\n";
    };
    EnvironmentPool pool;
    const auto read = read_journal(head + submit("1700000000.5"), "j", pool);
    REQUIRE(read);
    CHECK(read->version == 1);
    CHECK(read->next_line == 2);
    CHECK(read->jobs.size() == 1);
    for (const char* time : {"-1e300", "1e300", "-0.5", "253402300801.0"}) {
        const auto refused = read_journal(head + submit(time), "j", pool);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().message.starts_with("j:2: the event's \"timestamp\" must be seconds since 1970"));
    }
    const auto without =
        read_journal(head + "{\"id\":5,\"event\":{\"timestamp\":1.0,\"name\":\"depend\"}}\n", "j", pool);
    REQUIRE_FALSE(without);
    CHECK(without.error().message.find("never submitted") != std::string::npos);
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
        append_all(**store, life.job);
        REQUIRE((*store)->flush());
        RestoredJobs other;
        CHECK_FALSE(JobStore::open(dir.path, pool, other));
    }
    RestoredJobs restored;
    auto store = JobStore::open(dir.path, pool, restored);
    REQUIRE(store);
    REQUIRE(restored.jobs.size() == 1);
    CHECK(restored.jobs[0]->state == State::sched);
    JobTable empty;
    REQUIRE((*store)->compact(empty, 9));
    const std::string text = file_text(dir.path + "/jobs.journal");
    CHECK(text.starts_with(R"({"weir-jobs":3,"max_jobid":0,"next_seq":9,"synced":true,"end":true,"n":0,"crc":")"));
    CHECK(lines_of(text).size() == 1);
}

TEST_CASE("store: a write that fails leaves whole lines alone, and all is written when there is room again") {
    TempDir dir;
    EnvironmentPool pool;
    Life life(6);
    life.to_inactive();
    const std::string path = dir.path + "/jobs.journal";
    {
        RestoredJobs restored;
        auto store = JobStore::open(dir.path, pool, restored);
        REQUIRE(store);
        REQUIRE((*store)->compact(JobTable(), 0));
        const std::string before = file_text(path);
        append_all(**store, life.job);
        {
            const FileSizeLimit limit(before.size() + 300);  // in the middle of a line
            for (int i = 0; i < 3; ++i) {
                const auto failed = (*store)->flush();
                REQUIRE_FALSE(failed);
                CHECK(failed.error().code == std::errc::file_too_large);
                CHECK(failed.error().message.starts_with("job journal: cannot write " + path));
                CHECK(file_text(path) == before);
            }
        }
        REQUIRE((*store)->flush());
    }
    RestoredJobs restored;
    auto store = JobStore::open(dir.path, pool, restored);
    REQUIRE(store);
    REQUIRE(restored.jobs.size() == 1);
    CHECK(restored.jobs[0]->eventlog == life.job.eventlog);
}

TEST_CASE("store: a compaction that fails leaves the old journal and nothing beside it") {
    TempDir dir;
    EnvironmentPool pool;
    Life life(6);
    life.to_sched();
    RestoredJobs restored;
    auto store = JobStore::open(dir.path, pool, restored);
    REQUIRE(store);
    REQUIRE((*store)->compact(JobTable(), 0));
    append_all(**store, life.job);
    REQUIRE((*store)->flush());
    const std::string before = file_text(dir.path + "/jobs.journal");
    {
        const FileSizeLimit limit(10);
        CHECK_FALSE((*store)->compact(JobTable(), 0));
    }
    CHECK(file_text(dir.path + "/jobs.journal") == before);
    CHECK(::access((dir.path + "/jobs.journal.new").c_str(), F_OK) < 0);
}

TEST_CASE("store: what is appended behind a torn line stands behind the last whole one") {
    TempDir dir;
    const std::string path = dir.path + "/jobs.journal";
    Life life(6);
    life.to_sched();
    std::ofstream(path) << journal_of(life) << "{\"id\":6,\"event\":{\"times";
    EnvironmentPool pool;
    {
        RestoredJobs restored;
        auto store = JobStore::open(dir.path, pool, restored);
        REQUIRE(store);
        CHECK(restored.warning.find("the last flush is not whole (its last line has no newline") != std::string::npos);
        REQUIRE(life.post("memo", R"({"x":1})"));
        (*store)->append(life.job, lines_of(life.job.eventlog).back());
        REQUIRE((*store)->flush());
    }
    RestoredJobs restored;
    REQUIRE(JobStore::open(dir.path, pool, restored));
    CHECK(restored.warning.empty());
    CHECK(restored.jobs.at(0)->eventlog == life.job.eventlog);
}

TEST_CASE("store: a journal that is refused is not touched") {
    TempDir dir;
    const std::string path = dir.path + "/jobs.journal";
    Life life(6);
    life.to_sched();
    const std::string damaged = journal_of(life) + "rubbish\n" + next_flush(5);
    std::ofstream(path) << damaged;
    EnvironmentPool pool;
    RestoredJobs restored;
    CHECK_FALSE(JobStore::open(dir.path, pool, restored));
    CHECK(file_text(path) == damaged);
}

TEST_CASE("store: a journal that is missing or empty is told where something says that there were jobs") {
    TempDir dir;
    EnvironmentPool pool;
    {
        RestoredJobs first;
        REQUIRE(JobStore::open(dir.path, pool, first));
        CHECK(first.warning.empty());
    }
    std::ofstream(dir.path + "/job-priority.sqlite") << "x";
    for (const bool is_empty : {true, false}) {
        ::unlink((dir.path + "/jobs.journal").c_str());
        if (is_empty) {
            std::ofstream(dir.path + "/jobs.journal") << "";
        }
        RestoredJobs restored;
        REQUIRE(JobStore::open(dir.path, pool, restored));
        CHECK(restored.warning.find("/jobs.journal is missing or empty, but ") != std::string::npos);
        CHECK(restored.warning.find("/job-priority.sqlite shows that there were jobs") != std::string::npos);
    }
}

TEST_CASE("store: room is set aside behind the end and given back") {
    TempDir dir;
    EnvironmentPool pool;
    const std::string path = dir.path + "/jobs.journal";
    const auto blocks = [&path] {
        struct stat about {};
        REQUIRE(::stat(path.c_str(), &about) == 0);
        return about.st_blocks;
    };
    {
        RestoredJobs restored;
        auto store = JobStore::open(dir.path, pool, restored);
        REQUIRE(store);
        REQUIRE((*store)->compact(JobTable(), 0));
        const std::string before = file_text(path);
        REQUIRE((*store)->reserve());
        CHECK(file_text(path) == before);
        if (blocks() * 512 < 256 * 1024) {
            WARN("this file system cannot set room aside");
        }
    }
    CHECK(blocks() * 512 < 256 * 1024);
}
