// SPDX-License-Identifier: LGPL-3.0-only
#include <catch2/catch.hpp>

#include "modules/job-priority/sends/report_pace.hpp"
#include "modules/job-priority/sends/uplink.hpp"

using namespace weir::priority;
using namespace std::chrono_literals;
using weir::Instant;

namespace {

UplinkRow record(std::uint64_t job) {
    UplinkRow row;
    row.is_start = true;
    row.job = job;
    return row;
}

}  // namespace

TEST_CASE("uplink: nothing is sent before the parent said what it has") {
    UplinkQueue queue;
    queue.add(record(1));
    CHECK_FALSE(queue.next());
    queue.attached(0);
    REQUIRE(queue.next());
    CHECK_FALSE(queue.next());
}

// Mutant: modules/job-priority/sends/uplink_queue.cpp: acked > sent_seq_ => false
TEST_CASE("uplink: nothing is attached, and nothing deleted, where the parent has records that were never sent") {
    UplinkQueue queue(6, {{6, record(1)}});
    queue.add(record(2));  // of the journal that was read again
    CHECK_FALSE(queue.attached(7));
    CHECK_FALSE(queue.is_attached());
    CHECK(queue.unacknowledged() == 2);
    CHECK(queue.attached(6));
    CHECK(queue.unacknowledged() == 1);
    REQUIRE(queue.next());
    CHECK(queue.attached(7));
}

TEST_CASE("uplink: after a reconnect everything above the parent's word is sent again") {
    UplinkQueue queue;
    for (std::uint64_t job = 1; job <= 5; ++job) {
        queue.add(record(job));
    }
    queue.attached(0);
    REQUIRE(queue.next()->records.size() == 5);
    queue.detached();
    queue.attached(2);
    const auto again = queue.next();
    CHECK(again->first_seq == 3);
    CHECK(again->records.size() == 3);
    queue.acknowledged(5);
    CHECK(queue.unacknowledged() == 0);
    CHECK(queue.add(record(6)) == 6);
    CHECK(queue.first_seq() == 6);
}

TEST_CASE("uplink: a restart goes on with the numbers of the state file") {
    UplinkQueue queue(7, {{6, record(1)}, {7, record(2)}});
    CHECK(queue.first_seq() == 6);
    CHECK(queue.add(record(3)) == 8);
    UplinkQueue empty(7, {});
    CHECK(empty.first_seq() == 8);
    CHECK(empty.add(record(1)) == 8);
}

// Mutant: modules/job-priority/sends/uplink_queue.cpp: last - first_seq() + 1); => records_.size());
TEST_CASE("uplink: a record that the state file does not have yet waits, and those before it do not") {
    StateLog log;
    Uplink uplink(log, true);
    uplink.queue().attached(0);
    uplink.record(record(1));
    CHECK(uplink.sendable() == 0);
    CHECK_FALSE(uplink.next());
    uplink.written();
    uplink.record(record(2));
    CHECK(uplink.sendable() == 1);
    const auto first = uplink.next();
    REQUIRE(first);
    REQUIRE(first->records.size() == 1);
    CHECK(first->records.front().job == 1);
    uplink.acknowledged(1);
    CHECK(uplink.sendable() == 0);
    CHECK_FALSE(uplink.next());
    uplink.written();
    CHECK(uplink.next()->records.front().job == 2);
}

// Mutant: modules/job-priority/sends/uplink.hpp: written(); => ;
TEST_CASE("uplink: what a restart finds in the state file may be sent") {
    StateLog log;
    Uplink uplink(log, true);
    SavedState saved;
    saved.meta.uplink_seq = 7;
    saved.uplink = {{6, record(1)}, {7, record(2)}};
    uplink.restore(saved);
    uplink.queue().attached(6);
    CHECK(uplink.sendable() == 1);
    CHECK(uplink.next()->first_seq == 7);
}

TEST_CASE("uplink: batches are bounded") {
    UplinkQueue queue;
    for (std::size_t job = 0; job < UplinkQueue::batch_max + 1; ++job) {
        queue.add(record(job));
    }
    queue.attached(0);
    CHECK(queue.next()->records.size() == UplinkQueue::batch_max);
}

TEST_CASE("uplink: a record that the parent refuses is found by batches that halve, and the others arrive") {
    constexpr std::uint64_t last = 700;
    for (const std::uint64_t bad : {1U, 123U, 500U, 501U, 700U}) {
        CAPTURE(bad);
        UplinkQueue queue;
        for (std::uint64_t job = 1; job <= last; ++job) {
            queue.add(record(job));
        }
        std::uint64_t acked = 0;
        std::uint64_t dropped = 0;
        int batches = 0;
        queue.attached(0);
        while (const auto batch = queue.next()) {
            REQUIRE(batch->first_seq == acked + 1);
            REQUIRE(++batches < 60);
            const std::uint64_t end = acked + batch->records.size();
            if (bad > acked && bad <= end) {
                if (const auto alone = queue.refused()) {
                    dropped = *alone;
                    acked = queue.acknowledged(*alone);
                }
                queue.detached();
                queue.attached(acked);
            } else {
                acked = queue.acknowledged(end);
            }
        }
        CHECK(dropped == bad);
        CHECK(acked == last);
    }
}

TEST_CASE("uplink: after a refused batch the batches grow again") {
    UplinkQueue queue;
    for (std::size_t job = 0; job < 3 * UplinkQueue::batch_max; ++job) {
        queue.add(record(job));
    }
    queue.attached(0);
    CHECK(queue.next()->records.size() == UplinkQueue::batch_max);
    CHECK_FALSE(queue.refused());
    CHECK(queue.next()->records.size() == UplinkQueue::batch_max / 2);
    queue.acknowledged(UplinkQueue::batch_max / 2);
    CHECK(queue.next()->records.size() == UplinkQueue::batch_max);
}

// Mutant: modules/job-priority/sends/report_pace.hpp: records >= UplinkQueue::batch_max => records >
// UplinkQueue::batch_max
TEST_CASE("report pace: a quiet child reports at once, a busy one once in the pause, a full report goes at once") {
    const Instant begin = weir::instant_from_seconds(1000);
    ReportPace pace(1s);
    CHECK(pace.wait(begin, 1) == 0s);
    pace.sent(begin);
    CHECK(pace.wait(begin, 1) == 1s);
    CHECK(pace.wait(begin + 400ms, UplinkQueue::batch_max - 1) == 600ms);
    CHECK(pace.wait(begin + 400ms, UplinkQueue::batch_max) == 0s);
    CHECK(pace.wait(begin + 1s, 1) == 0s);
    CHECK(pace.wait(begin + 1h, 1) == 0s);
}

TEST_CASE("report pace: neither a clock that was set back nor a new link waits for the last report") {
    const Instant begin = weir::instant_from_seconds(1000);
    ReportPace pace(1s);
    pace.sent(begin);
    CHECK(pace.wait(begin - 1h, 1) == 0s);
    pace.restart();
    CHECK(pace.wait(begin, 1) == 0s);
}
