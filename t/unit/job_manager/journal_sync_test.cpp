// SPDX-License-Identifier: LGPL-3.0-only
// What a power failure may leave of the job journal is read, and the journal is synced once for a flush.
#include <poll.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>

#include "broker/services/job-manager/journal/journal_lines.hpp"
#include "t/unit/job_manager/journal_testing.hpp"

using weir::Status;
using namespace weir::broker::jobs;
using namespace weir::broker::jobs::testing;

// Kills: a journal that a power failure left is refused, damage of what was answered is dropped, or a part of a flush
// stays.
TEST_CASE("journal: of a flush that a power failure met nothing stays") {
    Life first(1);
    first.to_sched();
    Life second(2);
    second.to_sched();
    JournalWriter writer;
    writer.begin(0, 0);
    std::string text = writer.text();
    for (const Life* life : {&first, &second}) {
        writer.clear_text();
        writer.add(life->job);
        text += writer.text();
    }
    const std::vector<std::string> lines = lines_of(text);
    const std::size_t first_of_last = lines.size() - lines_of(second.job.eventlog).size();
    for (std::size_t i = 1; i < lines.size(); ++i) {
        for (const bool is_lost : {false, true}) {
            std::vector<std::string> left = lines;
            if (is_lost) {
                left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
            } else {
                left[i] = std::string(left[i].size(), '\0');
            }
            EnvironmentPool pool;
            const auto read = read_journal(joined(left), "j", pool);
            INFO(i << (is_lost ? " lost" : " zeros"));
            REQUIRE(read.has_value() == (i >= first_of_last));
            if (read) {
                const auto kept = static_cast<std::ptrdiff_t>(first_of_last);
                CHECK(read->next_line == first_of_last);
                CHECK(read->bytes == joined({lines.begin(), lines.begin() + kept}).size());
                CHECK(read->warning.starts_with("j:" + std::to_string(kept + 1) + ": the last flush is not whole ("));
                CHECK(read->jobs.size() == 1);
            }
        }
    }
}

// Kills: a part of what happened at once is kept, such as the end of a prolog without the mark of the launch.
TEST_CASE("journal: a flush that ends early is dropped, synced or not") {
    for (const bool is_synced : {true, false}) {
        Life life(1);
        JournalWriter writer;
        writer.begin(0, 0);
        const std::string begin = writer.text();
        writer.clear_text();
        writer.set_synced(is_synced);
        life.to_sched();
        writer.add(life.job);
        const std::string whole = begin + writer.text();
        EnvironmentPool pool;
        CHECK(read_journal(whole, "j", pool)->jobs.size() == 1);
        for (std::size_t size = begin.size(); size < whole.size(); ++size) {
            const auto read = read_journal(std::string_view(whole).substr(0, size), "j", pool);
            REQUIRE(read);
            REQUIRE(read->jobs.empty());
            REQUIRE(read->bytes == begin.size());
            REQUIRE(read->warning.empty() == (size == begin.size()));
        }
    }
}

// Kills: a journal of the version before loses its last flush when it is taken over.
TEST_CASE("journal: version 2, which has no ends of flushes, is read to its end") {
    Life life(1);
    life.to_sched();
    std::string text;
    for (std::string line : lines_of(journal_of(life))) {
        for (const std::string mark : {",\"end\":true", ",\"synced\":true"}) {
            if (const auto at = line.find(mark); at != std::string::npos) {
                line.erase(at, mark.size());
            }
        }
        if (const auto at = line.find("\"weir-jobs\":3"); at != std::string::npos) {
            line[at + 12] = '2';
        }
        line.resize(line.rfind(checksum_key));
        line += std::string(checksum_key) + checksum(line) + "\"}";
        text += line + "\n";
    }
    EnvironmentPool pool;
    const auto read = read_journal(text, "j", pool);
    REQUIRE(read);
    CHECK(read->version == 2);
    CHECK(read->jobs.at(0)->eventlog == life.job.eventlog);
    CHECK(read->warning.empty());
}

TEST_CASE("journal: where nothing is synced any bad line refuses the file") {
    Life life(1);
    life.to_sched();
    JournalWriter writer;
    writer.begin(0, 0);
    std::string text = writer.text();
    writer.clear_text();
    writer.set_synced(false);
    writer.add(life.job);
    std::vector<std::string> lines = lines_of(text + writer.text());
    lines[2] = "x";
    EnvironmentPool pool;
    CHECK_FALSE(read_journal(joined(lines), "j", pool));
}

TEST_CASE("job store: what was written is synced by another thread, once for a flush") {
    TempDir dir;
    EnvironmentPool pool;
    RestoredJobs restored;
    std::atomic<int> syncs = 0;
    auto store = JobStore::open(dir.path, pool, restored, [&](int) {
        ++syncs;
        return 0;
    });
    REQUIRE(store);
    CHECK_FALSE((*store)->needs_sync());
    Life life(1);
    life.to_sched();
    append_all(**store, life.job);
    REQUIRE((*store)->flush());
    CHECK((*store)->needs_sync());
    (*store)->begin_sync();
    pollfd poll{(*store)->sync_fd(), POLLIN, 0};
    CHECK(::poll(&poll, 1, -1) == 1);
    CHECK((*store)->is_syncing());
    CHECK((*store)->end_sync());
    CHECK_FALSE((*store)->needs_sync());
    CHECK(syncs == 1);
    (*store)->set_synced(false);
    append_all(**store, life.job);
    REQUIRE((*store)->flush());
    CHECK_FALSE((*store)->needs_sync());
}

// Kills: a second fdatasync, which the kernel answers with success, is believed.
TEST_CASE("job store: after a sync that failed only a new file helps") {
    TempDir dir;
    EnvironmentPool pool;
    RestoredJobs restored;
    auto store = JobStore::open(dir.path, pool, restored, [](int) { return EIO; });
    REQUIRE(store);
    JobTable table;
    REQUIRE((*store)->compact(table, 0));
    Life life(1);
    life.to_sched();
    append_all(**store, life.job);
    REQUIRE((*store)->flush());
    (*store)->begin_sync();
    const Status failed = (*store)->end_sync();
    REQUIRE_FALSE(failed);
    CHECK(failed.error().message.find("cannot sync " + dir.path + "/jobs.journal") != std::string::npos);
    CHECK((*store)->is_doubtful());
    CHECK_FALSE((*store)->needs_sync());
    REQUIRE((*store)->compact(table, 0));
    CHECK_FALSE((*store)->is_doubtful());
}
