// SPDX-License-Identifier: LGPL-3.0-only
#include <sys/resource.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include "t/unit/job_priority/state_files.hpp"

using namespace weir;
using namespace weir::priority;
using namespace weir::priority::testing;
using Catch::Matchers::Contains;

TEST_CASE("state: what was committed is read back to the last bit") {
    const Folder folder;
    {
        StateStore store = opened(folder.file());
        REQUIRE(store.apply(everything()));
    }
    const StateStore store = opened(folder.file());
    const SavedState& s = store.saved();
    CHECK(s.meta == *everything().meta);
    LedgerState ledger = *everything().checkpoint;
    ledger.payers.push_back(*everything().payers.at("x/@v"));
    CHECK(s.ledger == ledger);
    CHECK(s.charges.empty());
    CHECK(s.revisions.at(0).toml == "\"x\" = 1\n");
    CHECK(s.running.at(first_run.id).cores == 8);
    CHECK(s.running.at(first_run.id).run == first_run);
    CHECK(s.charged == std::map<JobRun, Instant>{{ended_run, at(7)}});
    CHECK(s.site == std::map<std::uint64_t, SiteRow>{{5, {0.5, at(2)}}});
    CHECK(s.reported.at({1, 2}).cores == 3);
    CHECK(s.downlinks.at(1).ignored_until == at(10));
    CHECK(s.reported.at({1, 2}).inside == 6);
    CHECK((s.uplink.at(77).account == "x" && s.uplink.at(77).inside == 4));
}

TEST_CASE("state: usage as the site counts it comes back number for number") {
    const Folder folder;
    StateBatch batch;
    batch.checkpoint = LedgerState{};
    batch.counted.rules = {1, -5, std::numeric_limits<std::int64_t>::min()};
    batch.counted.usage = {{"", {{-1, 7}, {0, 0}}}, {"a/@b", {{0, std::numeric_limits<std::uint64_t>::max()}}}};
    batch.counted.history = {{"a/@b", {{3, 4}}}};
    CountedRow begun{
        "a/@b", {{unassociated, -1500, at(3), std::chrono::seconds(9)}, {-2, 1, std::chrono::hours(1)}}, {}};
    CountedRow over = begun;
    over.ended = at(12);
    batch.counted_events = {begun, over};
    batch.running[7] = RunningRow{"a/@b", 2, at(3), 0, Bill{250, std::chrono::seconds(9), 1, std::chrono::hours(1)}};
    { REQUIRE(opened(folder.file()).apply(batch)); }
    {
        StateStore store = opened(folder.file());
        CHECK(store.saved().counted == batch.counted);
        REQUIRE(store.saved().counted_events.size() == 2);
        CHECK(store.saved().counted_events[0].job == begun.job);
        CHECK(!store.saved().counted_events[0].ended);
        CHECK(store.saved().counted_events[1].path == "a/@b");
        CHECK(store.saved().counted_events[1].ended == at(12));
        CHECK(store.saved().running.at(7).bill == batch.running[7]->bill);
        StateBatch plain;
        plain.checkpoint = LedgerState{};
        REQUIRE(store.apply(plain));
    }
    const StateStore store = opened(folder.file());
    CHECK(store.saved().counted == CountedUsageState{});
    CHECK(store.saved().counted_events.empty());
}

TEST_CASE("state: numbers that are none are damage, not zeros") {
    for (const char* numbers : {"1", "1 ", "1 2 3", "x 1", "1 -2", "1 2 "}) {
        INFO(numbers);
        const Folder folder;
        { REQUIRE(opened(folder.file()).apply(everything())); }
        {
            SqliteDb db = SqliteDb::open(folder.file());
            REQUIRE(db.execute("INSERT INTO counted VALUES (1, 'a', '" + std::string(numbers) + "')"));
        }
        std::vector<std::string> warnings;
        REQUIRE(StateStore::open(folder.file(), warnings));
        REQUIRE(warnings.size() == 1);
        CHECK_THAT(warnings.front(), Contains("damaged"));
    }
}

TEST_CASE("state: a payer's row takes the place of the one before, and goes when nothing is left") {
    const Folder folder;
    {
        StateStore store = opened(folder.file());
        REQUIRE(store.apply(everything()));
        StateBatch next;
        next.payers["x/@v"] = PayerState{"x/@v", {8, 9}, {0, 1}, 0};
        next.payers["x/@u"] = std::nullopt;
        REQUIRE(store.apply(next));
    }
    const StateStore store = opened(folder.file());
    CHECK(store.saved().ledger.payers == std::vector<PayerState>{{"x/@v", {8, 9}, {0, 1}, 0}});
    CHECK(store.saved().ledger.half_life == std::chrono::hours(1));
}

TEST_CASE("state: a checkpoint replaces the ledger and an older version's charges, acknowledged records go") {
    const Folder folder;
    { REQUIRE(opened(folder.file()).apply(everything())); }
    {
        SqliteDb db = SqliteDb::open(folder.file());
        REQUIRE(
            db.execute("INSERT INTO charge VALUES ('', 4, 0), ('x/@u', -2, " + std::to_string(micros(at(5))) + ")"));
    }
    {
        StateStore store = opened(folder.file());
        REQUIRE(store.saved().charges.size() == 2);
        CHECK(store.saved().charges[1].rate == -2);
        CHECK(store.saved().charges[1].time == at(5));
        StateBatch next;
        next.checkpoint = LedgerState{std::chrono::hours(1), 6, {}};
        next.running[0x8000000000000001ULL] = std::nullopt;
        next.downlinks[1] = std::nullopt;
        next.reported[{1, 2}] = std::nullopt;
        next.charged[ended_run] = std::nullopt;
        next.uplink_acked = 77;
        REQUIRE(store.apply(next));
    }
    const StateStore store = opened(folder.file());
    const SavedState& s = store.saved();
    CHECK(s.charges.empty());
    CHECK(s.ledger.payers.empty());
    CHECK(s.ledger.frame == 6);
    CHECK((s.running.empty() && s.downlinks.empty() && s.reported.empty() && s.charged.empty() && s.uplink.empty()));
}

TEST_CASE("state: a batch that fails leaves nothing of itself behind") {
    const Folder folder;
    StateStore store = opened(folder.file());
    REQUIRE(store.apply(everything()));
    StateBatch bad;
    bad.running[4] = RunningRow{"x", 1, at(0)};
    bad.revisions = {{1, at(0), "", "", ""}};  // the revision is taken
    CHECK_FALSE(store.apply(bad));
    StateBatch good;
    good.charged[{1, at(0), at(0)}] = at(0);
    CHECK(store.apply(good));
    store = opened("");
    CHECK(opened(folder.file()).saved().running.count(4) == 0);
}

TEST_CASE("state: a damaged file is moved aside, not deleted, and a new one begun") {
    const Folder folder;
    const auto damage =
        GENERATE(as<std::string>{}, "this is no database, it is a letter to the admin, long enough.......", "row");
    {
        StateStore store = opened(folder.file());
        REQUIRE(store.apply(everything()));
        if (damage == "row") {
            StateBatch batch;
            batch.running[1] = RunningRow{"x", -1, at(0)};  // cores cannot be negative
            REQUIRE(store.apply(batch));
        }
    }
    if (damage != "row") {
        std::ofstream(folder.file(), std::ios::binary | std::ios::trunc) << damage;
    }
    std::vector<std::string> warnings;
    const StateStore store = opened(folder.file(), &warnings);
    CHECK(store.saved().revisions.empty());
    REQUIRE(warnings.size() == 1);
    CHECK_THAT(warnings[0], Contains(folder.file()) && Contains(".corrupt-1") && Contains("damaged"));
    CHECK(std::filesystem::exists(folder.file() + ".corrupt-1"));
}

TEST_CASE("state: a second damaged file gets the next number") {
    const Folder folder;
    for (int n = 1; n <= 2; ++n) {
        std::ofstream(folder.file(), std::ios::binary | std::ios::trunc)
            << "garbage that is no SQLite file at all, " << n;
        std::vector<std::string> warnings;
        opened(folder.file(), &warnings);
        CHECK(std::filesystem::exists(folder.file() + ".corrupt-" + std::to_string(n)));
    }
}

TEST_CASE("state: a file in use by another module is refused and left alone") {
    const Folder folder;
    const StateStore first = opened(folder.file());
    std::vector<std::string> warnings;
    const auto second = StateStore::open(folder.file(), warnings);
    REQUIRE_FALSE(second);
    CHECK(second.error().code == std::errc::device_or_resource_busy);
    CHECK_THAT(second.error().message, Contains(folder.file()) && Contains("in use"));
    CHECK_FALSE(std::filesystem::exists(folder.file() + ".corrupt-1"));
}

namespace {

std::string bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// A module that is killed: what it left on disk, with the log as it was.
void kill_between(const std::string& from, const std::string& to) {
    for (const char* suffix : {"", "-wal"}) {
        std::filesystem::copy_file(from + suffix, to + suffix);
    }
}

}  // namespace

TEST_CASE("state: a file of a newer module is not written to") {
    const Folder folder;
    { opened(folder.file()); }
    { REQUIRE(SqliteDb::open(folder.file()).execute("PRAGMA user_version=99;")); }
    const std::string before = bytes_of(folder.file());
    std::vector<std::string> warnings;
    const auto store = StateStore::open(folder.file(), warnings);
    REQUIRE_FALSE(store);
    CHECK_THAT(store.error().message, Contains("schema version 99"));
    CHECK(bytes_of(folder.file()) == before);
}

// Kills: the file moved aside; its journal mode changed before anybody asked whose it is; a program without an id
// taken.
TEST_CASE("state: a file of another program stays where it is, as it is, and the sentence names the remedy") {
    const std::string sql =
        GENERATE(as<std::string>{}, "PRAGMA application_id=252006673; CREATE TABLE t (x INTEGER);",
                 "CREATE TABLE t (x INTEGER);", "PRAGMA journal_mode=WAL; CREATE TABLE t (x INTEGER);");
    INFO(sql);
    const Folder folder;
    { REQUIRE(SqliteDb::open(folder.file()).execute(sql)); }
    const std::string before = bytes_of(folder.file());
    std::vector<std::string> warnings;
    const auto store = StateStore::open(folder.file(), warnings);
    REQUIRE_FALSE(store);
    CHECK_THAT(store.error().message,
               Contains(folder.file()) && Contains("another program") && Contains("[weir] state"));
    CHECK(bytes_of(folder.file()) == before);
    CHECK_FALSE(std::filesystem::exists(folder.file() + ".corrupt-1"));
}

TEST_CASE("state: a file that the site named and that is no SQLite file is not touched") {
    const Folder folder;
    std::ofstream(folder.file()) << "\"physics\" = 2  # the share tree, named by a slip of the hand\n";
    const std::string before = bytes_of(folder.file());
    std::vector<std::string> warnings;
    const auto store = StateStore::open(folder.file(), warnings, StatePlace::named);
    REQUIRE_FALSE(store);
    CHECK_THAT(store.error().message, Contains(folder.file()) && Contains("no SQLite file"));
    CHECK(bytes_of(folder.file()) == before);
}

TEST_CASE("state: an emptied file is told") {
    const Folder folder;
    { REQUIRE(opened(folder.file()).apply(everything())); }
    std::filesystem::resize_file(folder.file(), 0);
    std::vector<std::string> warnings;
    const StateStore store = opened(folder.file(), &warnings);
    CHECK(store.is_new());
    REQUIRE(warnings.size() == 1);
    CHECK_THAT(warnings[0], Contains(folder.file()) && Contains("was empty"));
}

TEST_CASE("state: an emptied file whose log is there takes nothing with it") {
    const Folder folder;
    const std::string killed = (folder.path() / "killed.sqlite").string();
    {
        StateStore store = opened(folder.file());
        REQUIRE(store.apply(everything()));
        kill_between(folder.file(), killed);
    }
    std::filesystem::resize_file(killed, 0);
    std::vector<std::string> warnings;
    const StateStore store = opened(killed, &warnings);
    CHECK(store.is_new());
    REQUIRE(warnings.size() == 1);
    CHECK_THAT(warnings[0], Contains("is empty, its write-ahead log is not") && Contains(".corrupt-1"));
    CHECK(std::filesystem::file_size(killed + ".corrupt-1-wal") > 0);
}

TEST_CASE("state: after a kill a log that is missing or emptied is told, one that is there is read, in silence") {
    const std::string fate = GENERATE(as<std::string>{}, "there", "missing", "emptied");
    const int commits = GENERATE(0, 1);
    INFO(fate << " " << commits);
    const Folder folder;
    const std::string killed = (folder.path() / "killed.sqlite").string();
    {
        StateStore store = opened(folder.file());
        if (commits != 0) {
            REQUIRE(store.apply(everything()));
        }
        kill_between(folder.file(), killed);
    }
    if (fate == "missing") {
        std::filesystem::remove(killed + "-wal");
    } else if (fate == "emptied") {
        std::filesystem::resize_file(killed + "-wal", 0);
    }
    for (int life = 0; life < 2; ++life) {  // told once, and a clean end is no kill
        std::vector<std::string> warnings;
        const StateStore store = opened(killed, &warnings);
        const bool is_lost = fate != "there" && life == 0;
        CHECK(store.has_lost_log() == is_lost);
        CHECK(warnings.size() == (is_lost ? 1 : 0));
        CHECK(store.saved().revisions.size() == (fate == "there" ? static_cast<std::size_t>(commits) : 0));
    }
}

// A real write that the kernel refuses, as on a full disk: no file may grow.
TEST_CASE("state: what cannot be written is refused whole, and the next batch is written when there is room") {
    const Folder folder;
    StateStore store = opened(folder.file());
    REQUIRE(store.apply(everything()));
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit unlimited{};
    REQUIRE(getrlimit(RLIMIT_FSIZE, &unlimited) == 0);
    const rlimit full{std::filesystem::file_size(folder.file() + "-wal"), unlimited.rlim_max};
    REQUIRE(setrlimit(RLIMIT_FSIZE, &full) == 0);
    StateBatch batch;
    batch.revisions = {{2, at(9), "a", "b", std::string(1U << 20, '#')}};
    batch.running[4] = RunningRow{"x/@u", 1, at(9)};
    const Status refused = store.apply(batch);
    const Status again = store.apply(batch);
    REQUIRE(setrlimit(RLIMIT_FSIZE, &unlimited) == 0);
    CHECK_FALSE(refused);
    CHECK_FALSE(again);
    CHECK_THAT(refused.error().message, Contains(folder.file()));
    const std::string killed = (folder.path() / "killed.sqlite").string();
    kill_between(folder.file(), killed);
    CHECK(opened(killed).saved().revisions.size() == 1);
    REQUIRE(store.apply(batch));
    store = opened("");
    CHECK(opened(folder.file()).saved().revisions.size() == 2);
}

TEST_CASE("state: a folder that does not exist is an error that names the file") {
    std::vector<std::string> warnings;
    const auto store = StateStore::open("/nonexistent/folder/state.sqlite", warnings);
    REQUIRE_FALSE(store);
    CHECK_THAT(store.error().message, Contains("/nonexistent/folder/state.sqlite"));
}
