// SPDX-License-Identifier: LGPL-3.0-only
#include "modules/job-priority/sends/order_feed.hpp"

#include <catch2/catch.hpp>

using namespace weir;
using namespace weir::priority;

namespace {

/// A scheduler that has been told of one group and of jobs 1 to 3.
struct Told {
    OrderFeed feed;
    JobOrder order;

    Told() {
        feed.set_bits(10);
        feed.want_group(4, 100);
        for (std::uint64_t id = 1; id <= 3; id++) {
            feed.want(id, {4, static_cast<std::int64_t>(id)});
        }
        deliver();
    }
    void deliver(std::int64_t nonce = 1) {
        while (const auto change = feed.next()) {
            order.apply(*change);
            feed.acknowledge(nonce);
        }
    }
};

}  // namespace

TEST_CASE("order feed: what a scheduler was told is not sent again, and one request is out at a time") {
    Told told;
    CHECK(told.order.priority(JobId{2}, 7) == 102);
    CHECK(told.order.priority(JobId{9}, 7) == 7 << 10);
    CHECK(told.order.priority(JobId{2}, priority_held) == priority_held);
    CHECK(told.order.priority(JobId{2}, priority_expedited) == priority_expedited);
    told.feed.want_group(4, 100);
    CHECK_FALSE(told.feed.next());
    told.feed.want(3, {4, 9});
    CHECK(told.feed.next());
    told.feed.want_group(4, 50);
    CHECK_FALSE(told.feed.next());
    told.feed.acknowledge(1);
    told.deliver();
    CHECK(told.order.priority(JobId{2}, 7) == 52);
}

TEST_CASE("order feed: a scheduler that was loaded anew is told everything") {
    Told told;
    told.feed.withdraw(2);
    told.order.clear();
    told.feed.check_nonce(2);
    told.deliver(2);
    CHECK(told.order.size() == 2);
    CHECK(told.order.priority(JobId{1}, 7) == 101);
}

TEST_CASE("order feed: a job that left is forgotten there, unless it was never told or came again") {
    Told told;
    told.feed.want(4, {4, 4});
    told.feed.withdraw(4);
    CHECK_FALSE(told.feed.has_work());
    told.feed.want(1, {4, 8});  // changed, not sent yet
    told.feed.withdraw(1);
    told.feed.withdraw(2);
    told.feed.want(2, {4, 20});
    told.deliver();
    CHECK(told.order.size() == 2);
    CHECK(told.order.priority(JobId{2}, 7) == 120);
    told.feed.withdraw(2);
    told.deliver();
    CHECK(told.order.size() == 1);
    told.feed.retain({});
    told.deliver();
    CHECK(told.order.size() == 0);
}

TEST_CASE("order feed: when all are withdrawn the scheduler is told so once, also of what is still on its way") {
    Told told;
    told.feed.withdraw_all();
    CHECK(told.feed.has_any());
    told.deliver();
    CHECK_FALSE(told.feed.has_any());
    CHECK(told.order.size() == 0);
    told.feed.withdraw_all();
    CHECK_FALSE(told.feed.has_work());
    told.feed.want(1, {4, 1});
    const auto out = told.feed.next();
    told.feed.withdraw_all();
    told.order.apply(*out);
    told.feed.acknowledge(1);
    told.deliver();
    CHECK(told.order.size() == 0);
}

TEST_CASE("order feed: many jobs are told in portions, and another number of bits begins anew") {
    Told told;
    for (std::uint64_t id = 10; id < 10 + OrderFeed::portion_max; id++) {
        told.feed.want(id, {4, 1});
    }
    told.feed.want(5, {4, 1});
    CHECK(told.feed.next()->jobs.size() == OrderFeed::portion_max);
    told.feed.acknowledge(1);
    CHECK(told.feed.next()->jobs.size() == 1);
    told.feed.acknowledge(1);
    CHECK(told.feed.set_bits(3));
    CHECK_FALSE(told.feed.set_bits(3));
    const auto change = told.feed.next();
    REQUIRE(change);
    CHECK(change->is_all);
    CHECK(change->bits == 3);
    CHECK(change->jobs.empty());
}
