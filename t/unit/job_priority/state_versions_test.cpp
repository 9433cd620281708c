// SPDX-License-Identifier: LGPL-3.0-only
// State files of older versions are taken over; what they lack has its default.
#include <catch2/catch.hpp>

#include <functional>
#include <map>
#include <string>

#include "modules/job-priority/state/older_names.hpp"
#include "modules/job-priority/state/sqlite.hpp"
#include "t/unit/job_priority/state_files.hpp"

using namespace weir;
using namespace weir::priority;
using namespace weir::priority::testing;

namespace {

// What later versions added, taken away again.
constexpr const char* to_version_9 = "DROP TABLE place; PRAGMA user_version=9;";
constexpr const char* to_version_8 =
    "ALTER TABLE reported DROP COLUMN prepaid_us; ALTER TABLE reported DROP COLUMN gpus;"
    "ALTER TABLE reported DROP COLUMN committed_us; ALTER TABLE closed DROP COLUMN prepaid_us;"
    "ALTER TABLE closed DROP COLUMN gpus; ALTER TABLE closed DROP COLUMN committed_us;"
    "ALTER TABLE uplink DROP COLUMN rate; ALTER TABLE uplink DROP COLUMN prepaid_us;"
    "ALTER TABLE uplink DROP COLUMN gpus; ALTER TABLE uplink DROP COLUMN committed_us;"
    "ALTER TABLE uplink DROP COLUMN qos;"
    "PRAGMA user_version=8;";
constexpr const char* to_version_5 =
    "DROP TABLE usage_hour; DROP TABLE usage_label; ALTER TABLE running DROP queue; ALTER TABLE running DROP project;"
    "ALTER TABLE reported DROP queue; ALTER TABLE reported DROP project; ALTER TABLE reported DROP above;"
    "ALTER TABLE closed DROP queue; ALTER TABLE closed DROP project; ALTER TABLE closed DROP is_told;"
    "ALTER TABLE closed DROP above; ALTER TABLE uplink DROP queue; ALTER TABLE uplink DROP project;"
    "PRAGMA user_version=5;";
constexpr const char* to_version_4 =
    "ALTER TABLE running DROP COLUMN told_until_us; ALTER TABLE reported DROP COLUMN told_until_us;"
    "PRAGMA user_version=4;";
constexpr const char* to_version_3 =
    "ALTER TABLE running DROP COLUMN submit_us; ALTER TABLE running DROP COLUMN alloc_us;"
    "ALTER TABLE site_value DROP COLUMN submit_us; ALTER TABLE charged RENAME TO charged_4;"
    "CREATE TABLE charged (job INTEGER PRIMARY KEY, end_us INTEGER NOT NULL) STRICT;"
    "INSERT INTO charged SELECT job, end_us FROM charged_4; DROP TABLE charged_4; PRAGMA user_version=3;";
constexpr const char* to_version_2 =
    "DROP TABLE counted; DROP TABLE counted_event; ALTER TABLE reported DROP COLUMN rate;"
    "ALTER TABLE running DROP COLUMN rate; ALTER TABLE running DROP COLUMN prepaid_us;"
    "ALTER TABLE running DROP COLUMN gpus; ALTER TABLE running DROP COLUMN committed_us;"
    "PRAGMA user_version=2;";
constexpr const char* to_version_1 =
    "ALTER TABLE reported DROP COLUMN inside; ALTER TABLE uplink DROP COLUMN inside; PRAGMA user_version=1;";

/// What makes a file one of that version.
std::string back_to(int version) {
    std::string sql;
    for (const auto& [older, step] : std::map<int, const char*, std::greater<>>{{9, to_version_9},
                                                                                {8, to_version_8},
                                                                                {5, to_version_5},
                                                                                {4, to_version_4},
                                                                                {3, to_version_3},
                                                                                {2, to_version_2},
                                                                                {1, to_version_1}}) {
        sql += older >= version ? step : "";
    }
    return sql;
}

}  // namespace

TEST_CASE("state: a file of version 1, which knew no jobs inside reported jobs, is taken over") {
    const Folder folder;
    { REQUIRE(opened(folder.file()).apply(everything())); }
    {
        SqliteDb db = SqliteDb::open(folder.file());
        REQUIRE(db.execute(back_to(1)));
        REQUIRE(db.execute("DROP TABLE site_value;"));
    }
    for (int life = 0; life < 2; ++life) {
        const StateStore store = opened(folder.file());
        CHECK(store.saved().reported.at({1, 2}).cores == 3);
        CHECK(store.saved().reported.at({1, 2}).inside == 0);
        CHECK(store.saved().uplink.at(77).inside == 0);
    }
}

TEST_CASE("state: a file of version 2, which knew no costs, is taken over: what runs costs its cores") {
    const Folder folder;
    const StateBatch all = everything();
    { REQUIRE(opened(folder.file()).apply(all)); }
    { REQUIRE(SqliteDb::open(folder.file()).execute(back_to(2))); }
    for (int life = 0; life < 2; ++life) {
        const StateStore store = opened(folder.file());
        REQUIRE(!store.saved().running.empty());
        for (const auto& [id, row] : store.saved().running) {
            CHECK(row.bill == Bill{1000 * row.cores});
        }
        CHECK(store.saved().reported.at({1, 2}).bill.rate == 3000);
        CHECK(store.saved().reported.at({1, 2}).inside == 6);
        CHECK(store.saved().counted.rules.empty());
    }
}

TEST_CASE("state: a file of version 3, which knew jobs by id alone, is taken over: any run of that id is meant") {
    const Folder folder;
    { REQUIRE(opened(folder.file()).apply(everything())); }
    { REQUIRE(SqliteDb::open(folder.file()).execute(back_to(3))); }
    for (int life = 0; life < 2; ++life) {
        const StateStore store = opened(folder.file());
        const SavedState& s = store.saved();
        CHECK(s.charged == std::map<JobRun, Instant>{{JobRun{9, {}, {}}, at(7)}});
        CHECK(s.running.at(0x8000000000000001ULL).run.is({0x8000000000000001ULL, at(1), at(2)}));
        CHECK(s.running.at(0x8000000000000001ULL).cores == 8);
        CHECK(s.site == std::map<std::uint64_t, SiteRow>{{5, {0.5, {}}}});
    }
}

TEST_CASE("state: up to when a job's cores were reported comes back, and a file of version 4 knew of no such time") {
    const Folder folder;
    StateBatch batch;
    batch.running[7] = RunningRow{"a/@b", 2, at(3), 0, {}, at(8)};
    batch.reported[{7, 1}] = RunningRow{"a/@b", 2, at(3), 0, {}, at(9)};
    { REQUIRE(opened(folder.file()).apply(batch)); }
    {
        const StateStore store = opened(folder.file());
        CHECK(store.saved().running.at(7).told_until == at(8));
        CHECK(store.saved().reported.at({7, 1}).told_until == at(9));
    }
    { REQUIRE(SqliteDb::open(folder.file()).execute(back_to(4))); }
    const StateStore store = opened(folder.file());
    CHECK(store.saved().running.at(7).told_until == Instant{});
    CHECK(store.saved().reported.at({7, 1}).told_until == Instant{});
}

TEST_CASE("state: a job's queue, project and name above come back, and a file of version 5 knew none") {
    const Folder folder;
    StateBatch batch = everything();
    batch.running[7] = RunningRow{"a/@b", 2, at(3), 0, {.rate = 2, .queue = "batch", .project = "qcd"}};
    batch.reported[{7, 1}] = RunningRow{"a/@b", 2, at(3), 0, {.rate = 2, .queue = "q", .project = "p"}, {}, {}, 9};
    batch.closed[{8, 1}] = ClosedRow{{"a/@b", 2, at(3), 0, {.rate = 2, .queue = "r", .project = "s"}}, at(4), {}, true};
    batch.uplink.emplace_back(78, UplinkRow{true, 5, "u", "x", 2, at(11), 4, {.queue = "t", .project = "u"}});
    batch.usage = {{{5, "a", "b", "batch", "qcd"}, 9}};
    { REQUIRE(opened(folder.file()).apply(batch)); }
    {
        const StateStore store = opened(folder.file());
        CHECK(store.saved().running.at(7).bill == batch.running[7]->bill);
        CHECK(store.saved().reported.at({7, 1}).bill.project == "p");
        CHECK(store.saved().reported.at({7, 1}).above == 9);
        CHECK(store.saved().closed.at({8, 1}).job.bill.queue == "r");
        CHECK(store.saved().closed.at({8, 1}).is_told);
        CHECK(store.saved().uplink.at(78).bill.project == "u");
    }
    { REQUIRE(SqliteDb::open(folder.file()).execute(back_to(5))); }
    const StateStore store = opened(folder.file());
    CHECK(store.saved().running.at(7).bill.project.empty());
    CHECK(store.saved().running.at(7).cores == 2);
    CHECK(store.saved().closed.at({8, 1}).end == at(4));
    CHECK(store.saved().reported.at({7, 1}).above == older_name_above(7, 1));
    CHECK_FALSE(store.saved().closed.at({8, 1}).is_told);
}

TEST_CASE("state: what a reported job costs comes back, and for the parent of version 8 a job costs its cores") {
    const Folder folder;
    const Bill bill{.rate = 5, .prepaid = std::chrono::hours(1), .gpus = 3, .committed = std::chrono::hours(2)};
    StateBatch batch = everything();
    batch.reported[{7, 1}] = RunningRow{"a/@b", 2, at(3), 0, bill};
    batch.closed[{8, 1}] = ClosedRow{{"a/@b", 2, at(3), 0, bill}, at(4), {}, true};
    Bill above = bill;
    above.qos = "high";
    batch.uplink.emplace_back(78, UplinkRow{true, 5, "u", "x", 2, at(11), 4, above});
    { REQUIRE(opened(folder.file()).apply(batch)); }
    {
        const StateStore store = opened(folder.file());
        CHECK(store.saved().reported.at({7, 1}).bill == bill);
        CHECK(store.saved().closed.at({8, 1}).job.bill == bill);
        CHECK(store.saved().uplink.at(78).bill == above);
    }
    { REQUIRE(SqliteDb::open(folder.file()).execute(back_to(8))); }
    const StateStore store = opened(folder.file());
    CHECK(store.saved().reported.at({7, 1}).bill == Bill{.rate = 5});
    CHECK(store.saved().closed.at({8, 1}).job.bill == Bill{.rate = 5});
    CHECK(store.saved().uplink.at(78).bill == Bill{.rate = 2000});
}

TEST_CASE("state: a place of a child's job comes back; a file of version 9, which knew none, is taken over") {
    const Folder folder;
    const PlaceRow place{"alice", "chem", "batch", "high", 2, 8, std::chrono::hours(3)};
    StateBatch batch = everything();
    batch.places[{7, 1}] = place;
    batch.places[{7, 2}] = PlaceRow{"bob", "", "", "", 1, 1, Duration::max()};
    { REQUIRE(opened(folder.file()).apply(batch)); }
    {
        StateStore store = opened(folder.file());
        CHECK(store.saved().places.at({7, 1}) == place);
        CHECK(store.saved().places.at({7, 2}).wall_time == Duration::max());
        StateBatch end;
        end.places[{7, 2}] = std::nullopt;
        REQUIRE(store.apply(end));
    }
    CHECK(opened(folder.file()).saved().places.size() == 1);
    { REQUIRE(SqliteDb::open(folder.file()).execute(back_to(9))); }
    const StateStore store = opened(folder.file());
    CHECK(store.saved().places.empty());
    CHECK(store.saved().uplink.size() == 1);
}
