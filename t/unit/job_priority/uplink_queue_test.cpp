// SPDX-License-Identifier: LGPL-3.0-only
#include <catch2/catch.hpp>

#include "modules/job-priority/sends/uplink_queue.hpp"

using namespace weir::priority;

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

TEST_CASE("uplink: batches are bounded") {
    UplinkQueue queue;
    for (std::size_t job = 0; job < UplinkQueue::batch_max + 1; ++job) {
        queue.add(record(job));
    }
    queue.attached(0);
    CHECK(queue.next()->records.size() == UplinkQueue::batch_max);
}
