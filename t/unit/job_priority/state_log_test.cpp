// SPDX-License-Identifier: LGPL-3.0-only
// The log of changed rows: what one batch carries, and what a batch that could not be written leaves behind.
#include <catch2/catch.hpp>

#include "modules/job-priority/state/memory_store.hpp"
#include "modules/job-priority/state/state_log.hpp"
#include "t/unit/job_priority/support.hpp"

using namespace weir;
using namespace weir::priority;
using namespace weir::priority::testing;

namespace {

LedgerCheckpoint no_checkpoint() {
    FAIL("no checkpoint is due");
    return {};
}

RunningRow row(std::int64_t cores) {
    return {.path = "bio/@bob", .cores = cores, .start = at(1)};
}

}  // namespace

TEST_CASE("state log: a batch that failed goes before what came since, and the newer row wins") {
    StateLog log;
    log.add_charge({"bio/@bob", 1, at(1)});
    log.put_running(1, row(1));
    log.put_running(2, row(2));
    log.acknowledge_uplink(7);
    StateBatch failed = log.take(no_checkpoint);
    CHECK_FALSE(log.is_dirty());
    log.add_charge({"bio/@bob", -1, at(2)});
    log.put_running(1, std::nullopt);
    log.acknowledge_uplink(3);
    log.set_position(at(9));
    log.untake(std::move(failed));
    const StateBatch both = log.take(no_checkpoint);
    REQUIRE(both.charges.size() == 2);
    CHECK(both.charges[0].rate == 1);
    CHECK_FALSE(both.running.at(1));
    CHECK(both.running.at(2)->cores == 2);
    CHECK(both.uplink_acked == 7);
    CHECK(both.meta->position == at(9));
}

TEST_CASE("state log: a checkpoint takes the place of the charges before it, when there are many or it is wanted") {
    StateLog log;
    const auto checkpoint = [] {
        LedgerCheckpoint whole;
        whole.ledger.half_life = std::chrono::hours(1);
        return whole;
    };
    for (std::size_t i = 0; i < StateLog::charges_per_checkpoint; ++i) {
        log.add_charge({"bio/@bob", 1, at(1)});
    }
    const StateBatch many = log.take(checkpoint);
    CHECK(many.checkpoint->half_life == std::chrono::hours(1));
    CHECK(many.charges.empty());
    log.add_charge({"bio/@bob", 1, at(2)});
    CHECK(log.take(no_checkpoint).charges.size() == 1);
    log.want_checkpoint();
    CHECK(log.is_dirty());
    CHECK(log.take(checkpoint).checkpoint);
    CHECK(log.take(no_checkpoint).is_empty());
}

// Mutant: modules/job-priority/state/state_log.cpp: payers_in_checkpoint_ = saved.ledger.payers.size(); => ;
TEST_CASE("state log: a large ledger is written again after as many charges as it has payers") {
    constexpr std::size_t payers = 3 * StateLog::charges_per_checkpoint;
    const auto checkpoint = [] {
        LedgerCheckpoint whole;
        whole.ledger.payers.resize(payers);
        return whole;
    };
    StateLog log;
    SavedState saved;
    SECTION("one of this run") {
        log.want_checkpoint();
        REQUIRE(log.take(checkpoint).checkpoint);
    }
    SECTION("one of the state file") {
        saved.ledger.payers.resize(payers);
        log.restore(saved);
    }
    for (std::size_t i = 0; i + 1 < payers; ++i) {
        log.add_charge({"bio/@bob", 1, at(1)});
    }
    CHECK(log.take(no_checkpoint).charges.size() == payers - 1);
    log.add_charge({"bio/@bob", 1, at(1)});
    CHECK(log.take(checkpoint).checkpoint);
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
    CHECK(log.take(no_checkpoint).meta->position == at(6));
}
