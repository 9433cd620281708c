// SPDX-License-Identifier: LGPL-3.0-only
#include <catch2/catch.hpp>
#include <map>

#include "modules/job-priority/sends/pusher.hpp"
#include "modules/job-priority/sends/shown_rate.hpp"
#include "modules/job-priority/sends/value_pace.hpp"
#include "t/unit/draws.hpp"

using namespace weir::priority;

TEST_CASE("pusher: an unchanged value is not sent again") {
    Pusher pusher;
    pusher.want(1, 10);
    REQUIRE(pusher.next());
    pusher.acknowledge(1);
    pusher.want(1, 10);
    CHECK_FALSE(pusher.next());
    CHECK(pusher.pushed(1) == 10U);
}

TEST_CASE(
    "pusher: a job that is held or expedited before its first value is let go each time, one that has a value not") {
    Pusher pusher;
    pusher.want(2, 10);
    pusher.override(1);
    pusher.override(2);
    const std::vector<std::pair<std::uint64_t, std::uint32_t>> first{{1, Push::overridden}, {2, 10}};
    CHECK(pusher.next()->jobs == first);
    pusher.acknowledge(1);
    CHECK_FALSE(pusher.pushed(1));
    pusher.override(2);
    CHECK_FALSE(pusher.next());
    pusher.override(1);  // expedited, taken back and expedited again between two passes
    CHECK(pusher.next()->jobs == std::vector{first.front()});
    pusher.want(1, 7);
    pusher.acknowledge(1);
    CHECK(pusher.next()->jobs.front().second == 7);
}

TEST_CASE("pusher: one request is out at a time, and a value that changed meanwhile follows") {
    Pusher pusher;
    pusher.want(1, 10);
    REQUIRE(pusher.next());
    pusher.want(1, 11);
    CHECK_FALSE(pusher.next());
    pusher.acknowledge(1);
    const auto next = pusher.next();
    REQUIRE(next);
    CHECK(next->jobs.front().second == 11);
}

TEST_CASE("pusher: up to 300 changes go job by job in portions, more go through reprioritize-all") {
    Pusher few;
    for (std::uint64_t id = 0; id < Pusher::each_max; ++id) {
        few.want(id, 1);
    }
    const auto portion = few.next();
    CHECK(portion->mode == Push::Mode::job);
    CHECK(portion->jobs.size() == Pusher::job_portion_max);

    Pusher many;
    for (std::uint64_t id = 0; id <= Pusher::each_max; ++id) {
        many.want(id, 1);
    }
    const auto all = many.next();
    CHECK(all->mode == Push::Mode::all);
    CHECK(all->jobs.size() == Pusher::each_max + 1);
}

TEST_CASE("pusher: a table too large for one request is filled in portions and ends with reprioritize-all") {
    Pusher pusher;
    for (std::uint64_t id = 0; id < Pusher::fill_portion_max + 5; ++id) {
        pusher.want(id, 1);
    }
    CHECK(pusher.next()->mode == Push::Mode::fill);
    pusher.acknowledge(1);
    const auto last = pusher.next();
    CHECK(last->mode == Push::Mode::all);
    CHECK(last->jobs.size() == 5);
}

TEST_CASE("pusher: a new load of the plugin is told everything") {
    Pusher pusher;
    pusher.want(1, 10);
    pusher.next();
    pusher.acknowledge(1);
    pusher.check_nonce(1);
    CHECK_FALSE(pusher.has_work());
    pusher.check_nonce(2);
    CHECK(pusher.next()->jobs.size() == 1);
}

TEST_CASE("pusher: a job that no longer waits is not sent, even if its value was out") {
    Pusher pusher;
    pusher.want(1, 10);
    pusher.next();
    pusher.forget(1);
    pusher.acknowledge(1);
    CHECK_FALSE(pusher.has_work());
    CHECK_FALSE(pusher.pushed(1));
}

// Kills the mutants "fail() forgets what was out" and "acknowledge() believes a value that changed while out".
TEST_CASE("pusher: whatever fails on the way, the plugin ends with every wanted value") {
    draw::property("the plugin's table equals the wanted values", [] {
        Pusher pusher;
        std::map<std::uint64_t, std::uint32_t> wanted;
        std::map<std::uint64_t, std::uint32_t> table;
        std::int64_t nonce = 1;
        const auto send = [&](bool arrives) {
            const auto push = pusher.next();
            if (!push) {
                return;
            }
            if (!arrives) {
                table.clear();  // the plugin is gone
                nonce += 1;
                pusher.fail();
                return;
            }
            table.insert(push->jobs.begin(), push->jobs.end());
            for (const auto& [id, value] : push->jobs) {
                table[id] = value;
            }
            pusher.acknowledge(nonce);
        };
        const auto steps = draw::several([] { return draw::in_range(0, 100); });
        for (const int step : steps) {
            const auto id = static_cast<std::uint64_t>(draw::in_range(0, 8));
            if (step < 50) {
                wanted[id] = static_cast<std::uint32_t>(draw::in_range(1, 4));
                pusher.want(id, wanted[id]);
            } else if (step < 60) {
                wanted.erase(id);
                pusher.forget(id);
            } else if (step < 70) {
                table.clear();  // reloaded behind our back
                nonce += 1;
                pusher.check_nonce(nonce);
            } else {
                send(step < 90);
            }
        }
        pusher.check_nonce(nonce);
        while (pusher.has_work()) {
            send(true);
        }
        for (const auto& [id, value] : wanted) {
            RC_ASSERT(table.at(id) == value);
        }
    });
}

TEST_CASE("pusher: what is for people's eyes comes behind all others, as many at a time as is allowed") {
    Pusher pusher;
    pusher.want(1, 10);
    pusher.want(2, 20);
    (void)pusher.next();
    pusher.acknowledge(1);
    pusher.want_shown(1, 11);
    pusher.want_shown(2, 21);
    pusher.want(3, 30);
    CHECK(pusher.has_shown());
    CHECK(pusher.next(1)->jobs == std::vector<std::pair<std::uint64_t, std::uint32_t>>{{3, 30}});
    pusher.acknowledge(1);
    CHECK_FALSE(pusher.next(0));
    const auto push = pusher.next(1);
    CHECK(push->jobs == std::vector<std::pair<std::uint64_t, std::uint32_t>>{{2, 21}});
    CHECK(push->is_shown);
    pusher.acknowledge(1);
    pusher.want(1, 12);  // now it matters
    CHECK_FALSE(pusher.has_shown());
    CHECK(pusher.next(0)->jobs == std::vector<std::pair<std::uint64_t, std::uint32_t>>{{1, 12}});
}

// Kills: values that go in the order of the jobs' ids.
TEST_CASE("pusher: of the values for display the ones that change the head of the order go first") {
    using Values = std::vector<std::pair<std::uint64_t, std::uint32_t>>;
    Pusher pusher;
    const Values had = {{1, 10}, {2, 20}, {3, 90}, {4, 90}, {5, 50}, {6, 60}};
    for (const auto& [id, value] : had) {
        pusher.want(id, value);
    }
    (void)pusher.next();
    pusher.acknowledge(1);
    const Values wanted = {{1, 15}, {2, 80}, {3, 89}, {4, 5}, {6, 61}};
    for (const auto& [id, value] : wanted) {
        pusher.want_shown(id, value);
    }
    std::vector<std::uint64_t> sent;
    while (const auto push = pusher.next(1)) {
        sent.push_back(push->jobs.at(0).first);
        pusher.acknowledge(1);
    }
    CHECK(sent == std::vector<std::uint64_t>{4, 3, 2, 6, 1});  // 90 to 5, 90 to 89, 20 to 80, 60 to 61, 10 to 15
    pusher.want_shown(1, 99);
    pusher.want_shown(2, 98);
    pusher.want_shown(3, 97);
    pusher.want_shown(1, 15);  // as it was
    pusher.forget(2);
    CHECK(pusher.next(10)->jobs == Values{{3, 97}});
}

TEST_CASE("shown rate: the deeper the queue, the fewer values are sent for display") {
    using weir::config::PushRule;
    CHECK(shown_rate(PushRule::head, 0) == 20);
    CHECK(shown_rate(PushRule::head, 2000) == 20);
    CHECK(shown_rate(PushRule::head, 16000) == 2.5);
    CHECK(shown_rate(PushRule::head, 64000) == 0.625);
    CHECK(shown_rate(PushRule::numbers, 64000) == 1000);
}

TEST_CASE("value pace: requests are as long as they may be, and take a quarter of the time at most") {
    ValuePace pace;
    CHECK(pace.wait(0) == 0);
    CHECK(pace.portion() == ValuePace::portion_first);
    double now = 10, busy = 0;
    for (int i = 0; i < 50; ++i) {  // a value costs half a millisecond
        now += pace.wait(now);
        const double took = static_cast<double>(pace.portion()) * 0.0005;
        pace.answered(pace.portion(), now, now + took);
        now += took;
        busy += took;
    }
    CHECK(pace.portion() == 1000);
    CHECK(busy / (now - 10 + pace.wait(now)) == Approx(ValuePace::part));
    pace.answered(1, now, now);  // no time at all
    CHECK(pace.wait(now) == 0);
    CHECK(pace.portion() == 4000);
    pace.answered(4000, now, now + 1000);  // a machine that hung
    CHECK(pace.portion() == ValuePace::portion_least);
    CHECK(pace.wait(now + 1000) <= ValuePace::pause_most_s);
    CHECK(pace.wait(now + 1000 + ValuePace::pause_most_s) == 0);
}

TEST_CASE("pusher: a job that is withdrawn is sent as 0 if the receiver has another value, and then forgotten") {
    Pusher pusher;
    pusher.want(1, 10);
    pusher.want(2, 20);
    pusher.want(3, 30);
    pusher.withdraw(3);  // never sent
    (void)pusher.next();
    pusher.withdraw(1);  // on its way
    pusher.acknowledge(1);
    pusher.withdraw(2);
    CHECK(pusher.next()->jobs == std::vector<std::pair<std::uint64_t, std::uint32_t>>{{1, 0}, {2, 0}});
    pusher.acknowledge(1);
    CHECK(pusher.pending() == 0);
}

TEST_CASE("pusher: a job that is held back is withdrawn when the plugin has said so, and no other value is out") {
    Pusher pusher;
    CHECK(pusher.has_zero(1));  // the plugin knows no such job
    pusher.want(1, 5);
    CHECK_FALSE(pusher.has_zero(1));
    (void)pusher.next();
    pusher.hold_back(1, true);
    CHECK_FALSE(pusher.has_zero(1));
    pusher.acknowledge(1);  // of 5
    CHECK_FALSE(pusher.has_zero(1));
    CHECK(pusher.next()->jobs.front().second == 0);
    CHECK_FALSE(pusher.has_zero(1));
    pusher.acknowledge(1);
    CHECK(pusher.has_zero(1));
    pusher.hold_back(1, false);
    (void)pusher.next();
    pusher.hold_back(1, true);
    CHECK_FALSE(pusher.has_zero(1));  // 5 is out
    pusher.fail();
    CHECK_FALSE(pusher.has_zero(1));  // it may have come
}
