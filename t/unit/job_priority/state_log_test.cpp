// SPDX-License-Identifier: LGPL-3.0-only
// The log of changed rows: what one batch carries, and what a batch that could not be written leaves behind.
#include <array>
#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "modules/job-priority/state/memory_store.hpp"
#include "modules/job-priority/state/state_log.hpp"
#include "t/unit/job_priority/support.hpp"

using namespace weir;
using namespace weir::priority;
using namespace weir::priority::testing;

namespace {

constexpr NodeId bobs{1};

/// What is marked has these rows. A checkpoint that was not allowed fails the test.
class Rows : public RowSource {
  public:
    LedgerCheckpoint checkpoint() const override {
        REQUIRE(is_checkpoint_allowed);
        LedgerCheckpoint whole;
        whole.ledger.half_life = std::chrono::hours(1);
        whole.ledger.payers.resize(payers_in_checkpoint);
        return whole;
    }
    std::string path_of(NodeId) const override { return "bio/@bob"; }
    std::optional<PayerState> row_of_payer(NodeId) const override { return PayerState{"bio/@bob", {}, {}, rate}; }
    UsageSlot slot_of(const HourOfPayer& hour) const override {
        return {.hour = hour.hour, .account = account, .project = hour.project};
    }
    std::optional<RunningRow> row_of_running(std::uint64_t id) const override { return found(running, id); }
    std::optional<RunningRow> row_of_reported(ReportedKey key) const override { return found(reported, key); }
    std::optional<ClosedRow> row_of_closed(ReportedKey key) const override { return found(closed, key); }

    bool is_checkpoint_allowed = false;
    std::size_t payers_in_checkpoint = 0;
    std::int64_t rate = 1;
    std::string account = "bio";
    std::map<std::uint64_t, RunningRow> running;
    std::map<ReportedKey, RunningRow> reported;
    std::map<ReportedKey, ClosedRow> closed;

  private:
    template <typename Table>
    static std::optional<typename Table::mapped_type> found(const Table& table, const typename Table::key_type& key) {
        const auto at = table.find(key);
        return at == table.end() ? std::nullopt : std::optional(at->second);
    }
};

RunningRow row(std::int64_t cores) {
    return {.path = "bio/@bob", .cores = cores, .start = at(1)};
}

/// Of a state file that has a ledger with so many payers.
StateLog log_with_ledger(std::size_t payers = 1) {
    SavedState saved;
    saved.ledger.half_life = std::chrono::hours(1);
    saved.ledger.payers.resize(payers);
    StateLog log;
    log.restore(saved);
    return log;
}

}  // namespace

TEST_CASE("state log: a batch that failed goes with what came since, and the newer row wins") {
    StateLog log = log_with_ledger();
    Rows rows;
    rows.running = {{1, row(1)}, {2, row(2)}};
    log.mark_payer(bobs);
    log.mark_running(1);
    log.mark_running(2);
    log.add_usage({7, bobs, "", ""}, 40);
    log.acknowledge_uplink(7);
    StateBatch failed = log.take(rows);
    CHECK_FALSE(log.is_dirty());
    rows.rate = 0;
    rows.running.erase(1);
    log.mark_payer(bobs);
    log.mark_running(1);
    log.add_usage({7, bobs, "", ""}, 2);
    log.acknowledge_uplink(3);
    log.set_position(at(9));
    log.untake(std::move(failed));
    const StateBatch both = log.take(rows);
    CHECK(both.payers.at("bio/@bob")->rate == 0);
    CHECK_FALSE(both.running.at(1));
    CHECK(both.running.at(2)->cores == 2);
    CHECK(both.usage == UsageHours{{UsageSlot{.hour = 7, .account = "bio"}, 42}});
    CHECK(both.uplink_acked == 7);
    CHECK(both.meta->position == at(9));
}

TEST_CASE("state log: the row of what is marked is made once, as it is when the batch is taken") {
    StateLog log = log_with_ledger();
    Rows rows;
    rows.reported = {{{1, 2}, row(3)}};
    rows.closed = {{{1, 5}, {row(4), at(2), {}}}};
    for (int times = 0; times < 10000; ++times) {
        log.mark_payer(bobs);
        log.mark_reported({1, 2});
        log.mark_reported({1, static_cast<std::uint64_t>(1000 + times)});
        log.mark_closed({1, 5});
    }
    CHECK(log.is_dirty());
    const StateBatch batch = log.take(rows);
    CHECK(batch.payers.size() == 1);
    CHECK(batch.reported.size() == 10001);
    CHECK(batch.reported.at({1, 2})->cores == 3);
    CHECK_FALSE(batch.reported.at({1, 1000}));
    CHECK(batch.closed.at({1, 5})->end == at(2));
    CHECK_FALSE(log.is_dirty());
    CHECK(log.take(rows).is_empty());
}

// Mutant: modules/job-priority/state/state_log.cpp: next += next != ended.end() && *next == key ? 1 : 0; => ;
TEST_CASE("state log: a reported job that ended has no row, unless it began anew") {
    StateLog log = log_with_ledger();
    Rows rows;
    rows.reported = {{{1, 4}, row(4)}, {{1, 6}, row(6)}, {{2, 1}, row(7)}};
    for (const std::uint64_t job : {3, 4, 5, 6, 8}) {
        log.mark_reported_ended({1, job});
    }
    for (const ReportedKey& key : {ReportedKey{1, 4}, ReportedKey{1, 6}, ReportedKey{1, 5}, ReportedKey{2, 1}}) {
        log.mark_reported(key);
    }
    const StateBatch batch = log.take(rows);
    std::map<ReportedKey, std::int64_t> cores;
    for (const auto& [key, row] : batch.reported) {
        cores[key] = row ? row->cores : 0;
    }
    CHECK(cores == std::map<ReportedKey, std::int64_t>{
                       {{1, 3}, 0}, {{1, 4}, 4}, {{1, 5}, 0}, {{1, 6}, 6}, {{1, 8}, 0}, {{2, 1}, 7}});
    CHECK_FALSE(log.is_dirty());
    log.mark_reported_ended({1, 4});
    CHECK(log.is_dirty());
    CHECK(log.take(rows).reported.count({1, 4}) == 1);
}

// Mutant: modules/job-priority/state/state_log.cpp: merged[hour] += core_us; => merged[hour] = core_us;
// Mutant: modules/job-priority/state/state_log.cpp: sums_[recent].first.key() != hour.key() => false
TEST_CASE("state log: nothing of any hour is lost, however many there are") {
    StateLog log = log_with_ledger();
    const Rows rows;
    UsageHours expected;
    const std::array<std::string, 2> projects{"", "lattice"};
    for (std::int64_t i = 0; i < 30000; ++i) {
        const std::int64_t hour = i % 7 == 0 ? 3 : i % 3000;
        const std::string& project = projects[static_cast<std::size_t>(i / 5 % 2)];
        log.add_usage({hour, i % 11 == 0 ? idle : bobs, "", project}, i);
        expected[rows.slot_of({hour, bobs, "", project})] += i;
    }
    CHECK(log.unwritten_usage(rows) == expected);
    CHECK(log.take(rows).usage == expected);
}

TEST_CASE("state log: hours that are not written have the names of the tree that was in force") {
    StateLog log = log_with_ledger();
    Rows rows;
    log.add_usage({7, bobs, "", ""}, 40);
    log.name_usage(rows);
    rows.account = "physics";  // another tree
    log.add_usage({7, bobs, "", ""}, 2);
    const UsageHours expected{{UsageSlot{.hour = 7, .account = "bio"}, 40},
                              {UsageSlot{.hour = 7, .account = "physics"}, 2}};
    CHECK(log.unwritten_usage(rows) == expected);
    CHECK(log.take(rows).usage == expected);
    CHECK(log.unwritten_usage(rows).empty());
}

TEST_CASE("state log: a checkpoint takes the place of counted events before it, when there are many or it is wanted") {
    StateLog log = log_with_ledger();
    Rows rows;
    rows.is_checkpoint_allowed = true;
    for (std::size_t i = 0; i < StateLog::events_per_checkpoint; ++i) {
        log.add_counted({"bio/@bob", {}, {}});
    }
    log.mark_payer(bobs);
    const StateBatch many = log.take(rows);
    CHECK(many.checkpoint->half_life == std::chrono::hours(1));
    CHECK(many.counted_events.empty());
    CHECK(many.payers.empty());
    rows.is_checkpoint_allowed = false;
    log.add_counted({"bio/@bob", {}, {}});
    CHECK(log.take(rows).counted_events.size() == 1);
    rows.is_checkpoint_allowed = true;
    log.want_checkpoint();
    CHECK(log.is_dirty());
    CHECK(log.take(rows).checkpoint);
    CHECK(log.take(rows).is_empty());
}

// Mutant: modules/job-priority/state/state_log.cpp: has_ledger_ || marks_.payers.empty() => true
TEST_CASE("state log: the first payer of a file without a ledger brings the whole, with its half-life") {
    StateLog log;
    Rows rows;
    rows.is_checkpoint_allowed = true;
    SECTION("a new file") {}
    SECTION("a file of an older version, with charges that are in no payer's row") {
        SavedState saved;
        saved.ledger.half_life = std::chrono::hours(1);
        saved.charges = {{"bio/@bob", 1, at(1)}};
        log.restore(saved);
    }
    CHECK_FALSE(log.is_dirty());
    log.mark_payer(bobs);
    CHECK(log.take(rows).checkpoint);
    rows.is_checkpoint_allowed = false;
    log.mark_payer(bobs);
    CHECK(log.take(rows).payers.size() == 1);
}

// Mutant: modules/job-priority/state/state_log.cpp: payers_in_checkpoint_ = saved.ledger.payers.size(); => ;
TEST_CASE("state log: a large ledger is written again after as many counted events as it has payers") {
    constexpr std::size_t payers = 3 * StateLog::events_per_checkpoint;
    Rows rows;
    rows.payers_in_checkpoint = payers;
    StateLog log;
    SECTION("one of this run") {
        rows.is_checkpoint_allowed = true;
        log.want_checkpoint();
        REQUIRE(log.take(rows).checkpoint);
    }
    SECTION("one of the state file") {
        log = log_with_ledger(payers);
    }
    rows.is_checkpoint_allowed = false;
    for (std::size_t i = 0; i + 1 < payers; ++i) {
        log.add_counted({"bio/@bob", {}, {}});
    }
    CHECK(log.take(rows).counted_events.size() == payers - 1);
    log.add_counted({"bio/@bob", {}, {}});
    rows.is_checkpoint_allowed = true;
    CHECK(log.take(rows).checkpoint);
}

TEST_CASE("state log: position and floor move on, never back") {
    StateLog log;
    SavedState saved;
    saved.meta.position = at(5);
    saved.meta.charged_floor = at(4);
    log.restore(saved);
    log.set_position(at(3));
    CHECK_FALSE(log.is_dirty());
    log.set_charged_floor(at(2));
    CHECK(log.meta().charged_floor == at(4));
    log.set_position(at(6));
    CHECK(log.take(Rows()).meta->position == at(6));
}
