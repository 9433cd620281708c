// SPDX-License-Identifier: LGPL-3.0-only
// The scheduler: order, priorities that change, cancel, hello, estimates, nodes that go away.
#include "libsched/scheduler.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "t/unit/libsched/workload.hpp"

using namespace weir;
using test::at;
using test::machine;
using test::waiting;

namespace {
Scheduler scheduler(const Policy& policy, std::uint32_t nodes = 1, std::uint32_t cores = 4) {
    Scheduler s(policy);
    s.set_resources(machine(nodes, cores), IdSet::range(0, nodes - 1));
    return s;
}
std::vector<std::uint64_t> ids(const Scheduler::Effects& effects) {
    std::vector<std::uint64_t> out;
    for (const auto& start : effects.started) {
        out.push_back(start.id.value);
    }
    return out;
}
using Ids = std::vector<std::uint64_t>;
ResourceSet first_core(std::uint32_t rank) {
    return {{{rank, IdSet::range(0, 0), {}}}};
}
}  // namespace

TEST_CASE("scheduler: the highest priority starts first, then the earlier, then the lower id") {
    auto s = scheduler(Fcfs{});
    REQUIRE(s.alloc(waiting(4, 4, 10, 5, 1)).has_value());
    REQUIRE(s.alloc(waiting(3, 4, 10, 5, 1)).has_value());
    REQUIRE(s.alloc(waiting(2, 4, 10, 5, 0)).has_value());
    REQUIRE(s.alloc(waiting(1, 4, 10, 9, 2)).has_value());
    Ids order;
    s.walk([&](const PendingJob& job) {
        order.push_back(job.key.id.value);
        return true;
    });
    CHECK(order == Ids{1, 2, 3, 4});
    CHECK(ids(s.pass(at(0))) == Ids{1});
    CHECK_FALSE(s.wants_pass());
}

TEST_CASE("scheduler: the error of an estimate is from the first one to the start, early or late") {
    auto s = scheduler(Easy{});
    REQUIRE(s.alloc(waiting(1, 4, 100)).has_value());
    CHECK(ids(s.pass(at(0))) == Ids{1});
    CHECK(s.counters().estimated == 0);
    REQUIRE(s.alloc(waiting(2, 4, 100)).has_value());
    CHECK(s.pass(at(10)).annotations.at(0).estimate == at(100));
    s.set_end(JobId{1}, at(130));
    CHECK(s.pass(at(20)).annotations.at(0).estimate == at(130));
    REQUIRE(s.free(JobId{1}, {}, true).has_value());
    CHECK(ids(s.pass(at(60))) == Ids{2});
    CHECK(s.counters().estimated == 1);
    CHECK(s.counters().estimate_error == std::chrono::seconds(40));
}

// Kills: a job at the threshold without a reservation; one below it with one.
TEST_CASE("scheduler: who stands at the threshold has a reservation, who stands below it none") {
    for (const std::uint32_t priority : {4U, 5U}) {
        auto s = scheduler(policy_named("easy:reserve-above=5").value());
        REQUIRE(s.alloc(waiting(1, 3, 10, 9)).has_value());
        CHECK(ids(s.pass(at(0))) == Ids{1});
        REQUIRE(s.alloc(waiting(2, 4, 10, priority)).has_value());
        REQUIRE(s.alloc(waiting(3, 1, 100, 1)).has_value());  // longer than job 1
        CHECK(ids(s.pass(at(1))) == (priority == 5 ? Ids{} : Ids{3}));
    }
}

// Kills: a head that the clock, which was set back, says is not here yet, and that is passed until then.
TEST_CASE("scheduler: after the clock was set back the head still has its reservation") {
    auto s = scheduler(Easy{});
    REQUIRE(s.alloc(waiting(1, 3, 10, 9, 1000)).has_value());
    REQUIRE(s.alloc(waiting(2, 4, 10, 5, 1000)).has_value());
    REQUIRE(s.alloc(waiting(3, 1, 100, 1, 1000)).has_value());  // longer than job 1
    CHECK(ids(s.pass(at(500))) == Ids{1});
}

// Kills: reservations of before the clock was set back, to whose times nothing fits.
TEST_CASE("scheduler: after the clock was set back the reservations are made anew") {
    auto s = scheduler(Easy{});
    REQUIRE(s.alloc(waiting(1, 3, 100, 9)).has_value());
    REQUIRE(s.alloc(waiting(2, 4, 10, 5)).has_value());
    REQUIRE(s.alloc(waiting(3, 1, 60, 1)).has_value());
    CHECK(ids(s.pass(at(1000))) == Ids{1, 3});
    REQUIRE(s.free(JobId{3}, {}, true).has_value());
    REQUIRE(s.alloc(waiting(4, 1, 60, 1)).has_value());
    CHECK(ids(s.pass(at(1050))) == Ids{});  // job 1 ends at 1100
    REQUIRE(s.alloc(waiting(5, 1, 60, 1)).has_value());
    CHECK(ids(s.pass(at(500))) == Ids{4});
}

TEST_CASE("scheduler: where priorities have fractional bits, the threshold is still a whole priority") {
    for (const std::uint32_t priority : {19U, 20U}) {
        auto s = scheduler(policy_named("easy:reserve-above=5").value());
        s.set_priority_bits(2);
        REQUIRE(s.alloc(waiting(1, 3, 10, 36)).has_value());
        CHECK(ids(s.pass(at(0))) == Ids{1});
        REQUIRE(s.alloc(waiting(2, 4, 10, priority)).has_value());
        REQUIRE(s.alloc(waiting(3, 1, 100, 4)).has_value());  // longer than job 1
        CHECK(ids(s.pass(at(1))) == (priority == 20 ? Ids{} : Ids{3}));
    }
}

// Mutant: libsched/scheduler.cpp: key.priority = priority; => key.priority = priority + 1;
// Mutant: libsched/scheduler.cpp: job.key = keys_.at(job.key.id); }); => job.key.priority += 1; });
TEST_CASE("scheduler: new priorities of a few and of all waiting jobs give the order of those priorities") {
    auto s = scheduler(Fcfs{});
    constexpr std::uint32_t jobs = 500;
    REQUIRE(s.alloc(waiting(jobs + 1, 4, 10, 9000)).has_value());
    CHECK(s.pass(at(0)).started.size() == 1);
    std::vector<std::pair<JobId, std::uint32_t>> all;
    for (std::uint32_t id = 1; id <= jobs; id++) {
        REQUIRE(s.alloc(waiting(id, 4, 10, id)).has_value());
        all.emplace_back(JobId{id}, 1 + id * 7919 % 2003);
    }
    std::vector<std::uint32_t> priority(jobs + 1);
    const auto is_in_order = [&](std::span<const std::pair<JobId, std::uint32_t>> changes) {
        s.prioritize(changes);
        for (const auto& [id, value] : changes) {
            priority[id.value] = value;
        }
        std::vector<QueueKey> keys;
        s.walk([&](const PendingJob& job) {
            keys.push_back(job.key);
            return job.key.priority == priority[job.key.id.value];
        });
        return keys.size() == jobs && std::is_sorted(keys.begin(), keys.end());
    };
    CHECK(is_in_order(all));
    CHECK(s.wants_pass());
    const std::vector<std::pair<JobId, std::uint32_t>> few{{JobId{3}, 5000}, {JobId{9}, 2}, {JobId{3}, 4000}};
    CHECK(is_in_order(few));
    CHECK(s.waiting(JobId{3})->key.priority == 4000);
}

// Kills: the starving by priority.
TEST_CASE("scheduler: of the starving who waits longest goes first, whatever the priorities") {
    auto s = scheduler(policy_named("first-fit:starve-after=10s").value());
    REQUIRE(s.alloc(waiting(1, 4, 30, 1, 0)).has_value());
    CHECK(ids(s.pass(at(0))) == Ids{1});
    REQUIRE(s.alloc(waiting(2, 4, 10, 1, 1)).has_value());
    REQUIRE(s.alloc(waiting(3, 4, 10, 9, 2)).has_value());
    REQUIRE(s.free(JobId{1}, {}, true).has_value());
    CHECK(ids(s.pass(at(30))) == Ids{2});
}

// Mutant: libsched/policy/fcfs.hpp: if (!space.may_ever_start(*job)) { => if (false) {
TEST_CASE("scheduler: a starving job that needs a drained node keeps nobody from starting") {
    auto s = scheduler(policy_named("first-fit:starve-after=10s").value(), 2, 2);
    s.set_up(IdSet::range(1, 1), false);
    Constraint on_second;
    on_second.kind = Constraint::Kind::ranks;
    on_second.ranks = IdSet::range(1, 1);
    REQUIRE(s.alloc(waiting(1, 1, 30), on_second).has_value());
    REQUIRE(s.alloc(waiting(2, 1, 30, 1, 95)).has_value());
    CHECK(ids(s.pass(at(100))) == Ids{2});
    REQUIRE(s.alloc(waiting(3, 2, 30)).has_value());  // starves as well, and would fit if job 2 ended
    REQUIRE(s.alloc(waiting(4, 1, 30, 1, 99)).has_value());
    CHECK(s.pass(at(101)).started.empty());
    s.set_up(IdSet::range(1, 1), true);
    CHECK(ids(s.pass(at(102))) == Ids{1, 3});
}

TEST_CASE("scheduler: a new priority moves a waiting job and asks for a pass") {
    auto s = scheduler(Fcfs{});
    REQUIRE(s.alloc(waiting(1, 4, 10, 5)).has_value());
    REQUIRE(s.alloc(waiting(2, 4, 10, 4)).has_value());
    const std::vector<std::pair<JobId, std::uint32_t>> same{{JobId{1}, 5}, {JobId{99}, 1}};
    CHECK(ids(s.pass(at(0))) == Ids{1});
    s.prioritize(same);
    CHECK_FALSE(s.wants_pass());
    REQUIRE(s.alloc(waiting(3, 4, 10, 6)).has_value());
    const std::vector<std::pair<JobId, std::uint32_t>> lift{{JobId{2}, 7}};
    s.prioritize(lift);
    CHECK(s.wants_pass());
    REQUIRE(s.free(JobId{1}, {}, true).has_value());
    CHECK(ids(s.pass(at(1))) == Ids{2});
}

TEST_CASE("scheduler: a job of priority 0 never starts and holds nobody up who stands before it") {
    auto s = scheduler(Easy{});
    REQUIRE(s.alloc(waiting(1, 1, 10, 0)).has_value());
    REQUIRE(s.alloc(waiting(2, 1, 10, 3)).has_value());
    CHECK(ids(s.pass(at(0))) == Ids{2});
    CHECK(s.pending() == 1);
}

TEST_CASE("scheduler: a job that is held no more is asked though a reservation stands") {
    auto s = scheduler(Easy{});
    REQUIRE(s.alloc(waiting(1, 2, 100, 5)).has_value());
    REQUIRE(s.alloc(waiting(2, 4, 10, 4)).has_value());
    REQUIRE(s.alloc(waiting(3, 1, 10, 0)).has_value());
    CHECK(ids(s.pass(at(0))) == Ids{1});
    const std::vector<std::pair<JobId, std::uint32_t>> released{{JobId{3}, 1}};
    s.prioritize(released);
    CHECK(ids(s.pass(at(1))) == Ids{3});
}

TEST_CASE("scheduler: impossible and repeated requests are refused") {
    auto s = scheduler(Fcfs{});
    CHECK(s.alloc(waiting(1, 5, 10)).error().message.find("asks for 5 cores") != std::string::npos);
    REQUIRE(s.alloc(waiting(2, 1, 10)).has_value());
    CHECK_FALSE(s.alloc(waiting(2, 1, 10)).has_value());
    s.pass(at(0));
    CHECK_FALSE(s.alloc(waiting(2, 1, 10)).has_value());
}

TEST_CASE("scheduler: cancel takes a waiting job out, a started one is no longer there") {
    auto s = scheduler(Fcfs{});
    REQUIRE(s.alloc(waiting(1, 4, 10)).has_value());
    REQUIRE(s.alloc(waiting(2, 4, 10)).has_value());
    s.pass(at(0));
    CHECK_FALSE(s.cancel(JobId{1}));
    CHECK(s.cancel(JobId{2}));
    CHECK_FALSE(s.cancel(JobId{2}));
}

TEST_CASE("scheduler: hello claims what runs, twice the same is an error") {
    auto s = scheduler(Fcfs{});
    const ResourceSet held{{{0, IdSet::range(2, 3), {}}}};
    CHECK(s.hello(JobId{7}, held, at(50)).has_value());
    CHECK_FALSE(s.hello(JobId{8}, held, at(50)).has_value());
    REQUIRE(s.alloc(waiting(1, 2, 10)).has_value());
    const auto effects = s.pass(at(0));
    REQUIRE(effects.started.size() == 1);
    CHECK(effects.started[0].resources.nodes[0].cores.encode() == "0-1");
}

TEST_CASE("scheduler: what a second hello does not name any more is free") {
    auto s = scheduler(Fcfs{});
    REQUIRE(s.hello(JobId{7}, {{{0, IdSet::range(0, 0), {}}}}, at(50)).has_value());
    REQUIRE(s.hello(JobId{8}, {{{0, IdSet::range(1, 1), {}}}}, at(50)).has_value());
    REQUIRE(s.hello(JobId{9}, {{{0, IdSet::range(2, 2), {}}}}, at(50)).has_value());
    REQUIRE(s.free(JobId{9}, {}, true).has_value());
    REQUIRE(s.alloc(waiting(1, 1, 10)).has_value());
    CHECK(ids(s.pass(at(0))) == Ids{1});
    CHECK_FALSE(s.wants_pass());
    s.confirm_hello({JobId{7}});
    CHECK(s.wants_pass());
    CHECK(s.space().pool().free_cores() == 2);
    CHECK(s.space().running().contains(JobId{1}));
    CHECK_FALSE(s.space().running().contains(JobId{8}));
}

TEST_CASE("scheduler: the head gets an estimate once, and it is withdrawn when another takes its place") {
    auto s = scheduler(Easy{});
    REQUIRE(s.alloc(waiting(1, 3, 100)).has_value());
    REQUIRE(s.alloc(waiting(2, 4, 10)).has_value());
    auto effects = s.pass(at(0));
    REQUIRE(effects.annotations.size() == 1);
    CHECK(effects.annotations[0].id == JobId{2});
    CHECK(effects.annotations[0].estimate == at(100));
    CHECK(s.pass(at(1)).annotations.empty());
    REQUIRE(s.alloc(waiting(3, 4, 10, 9)).has_value());
    effects = s.pass(at(2));
    CHECK(effects.cleared == std::vector<JobId>{JobId{2}});
    REQUIRE(effects.annotations.size() == 1);
    CHECK(effects.annotations[0].id == JobId{3});
}

// Mutant: libsched/scheduler.cpp: && announced_reason_ == reason; => ;
TEST_CASE("scheduler: the head is announced again when its nodes are drained no more") {
    auto s = scheduler(Easy{}, 2, 1);
    s.set_up(IdSet::range(1, 1), false);
    PendingJob endless = waiting(1, 1, 0);
    endless.limit = Duration::max();
    REQUIRE(s.alloc(endless).has_value());
    REQUIRE(s.alloc(waiting(2, 2, 10)).has_value());
    CHECK(s.pass(at(0)).annotations.at(0).reason ==
          "next to start: waits for 2 cores; too many nodes are drained or down");
    s.set_up(IdSet::range(1, 1), true);
    CHECK(s.pass(at(1)).annotations.at(0).reason == "next to start: waits for 2 cores");
}

TEST_CASE("scheduler: a longer expiration moves the estimate") {
    auto s = scheduler(Easy{});
    REQUIRE(s.alloc(waiting(1, 4, 100)).has_value());
    REQUIRE(s.alloc(waiting(2, 4, 10)).has_value());
    CHECK(s.pass(at(0)).annotations[0].estimate == at(100));
    CHECK(s.set_end(JobId{1}, at(300)));
    CHECK(s.pass(at(0)).annotations[0].estimate == at(300));
    CHECK_FALSE(s.set_end(JobId{2}, at(300)));
}

TEST_CASE("scheduler: jobs are believed to end with the instance at the latest") {
    auto s = scheduler(Easy{});
    s.set_instance_end(at(60));
    PendingJob endless = waiting(1, 4, 0);
    endless.limit = Duration::max();
    REQUIRE(s.alloc(endless).has_value());
    REQUIRE(s.alloc(waiting(2, 4, 10)).has_value());
    const auto effects = s.pass(at(0));
    CHECK(effects.started[0].end == at(60));
    CHECK_FALSE(effects.annotations.at(0).estimate);  // nothing starts when the instance has ended
}

TEST_CASE("scheduler: who arrives behind the head is not announced as the head") {
    auto s = scheduler(Backfill{.depth = Backfill::all});
    REQUIRE(s.alloc(waiting(1, 4, 10)).has_value());
    REQUIRE(s.alloc(waiting(2, 4, 10)).has_value());
    CHECK(s.pass(at(0)).annotations.at(0).id == JobId{2});
    REQUIRE(s.alloc(waiting(3, 4, 10)).has_value());
    const auto effects = s.pass(at(1));
    CHECK(effects.annotations.empty());
    CHECK(effects.cleared.empty());
}

TEST_CASE("scheduler: past the instance's end nothing is given twice, either") {
    auto s = scheduler(Backfill{.depth = 2}, 3, 2);
    s.set_instance_end(at(60));
    for (const std::uint32_t cores : {2U, 6U, 6U, 2U, 2U}) {  // the second and third wait, the others fit beside them
        REQUIRE(s.alloc(waiting(s.pending() + 1, cores, 10)).has_value());
    }
    CHECK(ids(s.pass(at(70))) == Ids{1, 4, 5});
    CHECK(s.space().pool().free_cores() == 0);
}

TEST_CASE("scheduler: nothing starts on a node that is down, shrunk nodes come back to nobody") {
    auto s = scheduler(Fcfs{}, 2, 2);
    s.set_up(IdSet::range(0, 0), false);
    REQUIRE(s.alloc(waiting(1, 3, 10)).has_value());
    CHECK(s.pass(at(0)).started.empty());
    s.set_up(IdSet::range(0, 0), true);
    CHECK(ids(s.pass(at(1))) == Ids{1});
    s.shrink(IdSet::range(0, 0));
    REQUIRE(s.free(JobId{1}, {}, true).has_value());
    CHECK(s.space().pool().free_cores() == 2);
    CHECK_FALSE(s.alloc(waiting(2, 3, 10)).has_value());
}

// Mutant: libsched/resource/resource_space.hpp: reservations_.has_grown || (up => reservations_.has_grown || (false
TEST_CASE("scheduler: kept reservations move forward when nodes come back, and nobody's backward") {
    auto s = scheduler(KeptReservations{}, 3, 1);
    s.set_up(IdSet::range(0, 2), false);
    REQUIRE(s.alloc(waiting(1, 2, 100)).has_value());
    CHECK(s.pass(at(0)).started.empty());  // it has no place
    s.set_up(IdSet::range(0, 1), true);
    CHECK(ids(s.pass(at(1))) == Ids{1});
    REQUIRE(s.alloc(waiting(2, 2, 10, 1, 2)).has_value());
    CHECK(s.pass(at(2)).annotations.at(0).estimate == at(101));
    REQUIRE(s.alloc(waiting(3, 2, 10, 9, 3)).has_value());  // before it in the queue, with a later place
    CHECK(s.pass(at(3)).annotations.at(0).estimate == at(111));
    s.set_up(IdSet::range(2, 2), true);
    CHECK(s.pass(at(4)).started.empty());
    s.set_up(IdSet::range(0, 0), false);
    CHECK(s.pass(at(5)).started.empty());
    s.set_up(IdSet::range(0, 0), true);
    REQUIRE(s.alloc(waiting(4, 1, 97, 1, 6)).has_value());
    CHECK(ids(s.pass(at(6))) == Ids{4});  // on the node that came back
    REQUIRE(s.free(JobId{1}, {}, true).has_value());
    CHECK(ids(s.pass(at(101))) == Ids{2});
}

// Mutant: libsched/policy/kept_reservations.hpp: false) || has_room) { => false)) {
TEST_CASE("scheduler: who waits behind a kept reservation starts when that is given up") {
    const auto behind_big = [] {
        auto s = scheduler(KeptReservations{}, 2, 1);
        REQUIRE(s.hello(JobId{1}, first_core(1), at(500)).has_value());
        REQUIRE(s.alloc(waiting(2, 2, 100, 16)).has_value());
        REQUIRE(s.alloc(waiting(3, 1, 600, 10)).has_value());
        CHECK(s.pass(at(0)).started.empty());
        CHECK(s.due() == at(500));
        return s;
    };
    SECTION("its job is cancelled") {
        auto s = behind_big();
        REQUIRE(s.cancel(JobId{2}));
        CHECK(ids(s.pass(at(1))) == Ids{3});
        CHECK(s.due() == never);
    }
    SECTION("its job is held") {
        auto s = behind_big();
        const std::vector<std::pair<JobId, std::uint32_t>> held{{JobId{2}, priority_held}};
        s.prioritize(held);
        CHECK(ids(s.pass(at(1))) == Ids{3});
    }
    SECTION("it is due, and its node is down") {
        auto s = behind_big();
        s.set_up(IdSet::range(1, 1), false);
        REQUIRE(s.free(JobId{1}, {}, true).has_value());
        CHECK(s.pass(at(2)).started.empty());
        CHECK(s.due() == at(500));
        s.set_due();
        CHECK(s.wants_pass());
        CHECK(ids(s.pass(at(501))) == Ids{3});
    }
}

// Mutant: libsched/policy/backfill.hpp: if (!space.may_ever_start(*job)) { => if (false) {
TEST_CASE("scheduler: a head that the nodes which are up cannot run leaves its reservation to the next job") {
    auto s = scheduler(Easy{}, 4, 1);
    s.set_up(IdSet::range(3, 3), false);
    REQUIRE(s.hello(JobId{1}, first_core(0), at(10)).has_value());
    REQUIRE(s.hello(JobId{2}, first_core(1), at(10)).has_value());
    REQUIRE(s.alloc(waiting(3, 4, 100, 20)).has_value());
    REQUIRE(s.alloc(waiting(4, 3, 100, 16)).has_value());
    REQUIRE(s.alloc(waiting(5, 1, 3000, 10)).has_value());
    CHECK(s.pass(at(0)).started.empty());  // job 5 would delay job 4
    REQUIRE(s.free(JobId{1}, {}, true).has_value());
    CHECK(s.pass(at(9)).started.empty());
    REQUIRE(s.free(JobId{2}, {}, true).has_value());
    CHECK(ids(s.pass(at(10))) == Ids{4});
    s.set_up(IdSet::range(3, 3), true);
    CHECK(s.pass(at(11)).started.empty());  // now the head is protected again
}

TEST_CASE("scheduler: a new end of the instance gives all kept reservations their time again") {
    auto s = scheduler(KeptReservations{}, 1, 4);
    s.set_instance_end(at(60));
    REQUIRE(s.alloc(waiting(1, 4, 40)).has_value());
    REQUIRE(s.alloc(waiting(2, 4, 40)).has_value());
    CHECK(ids(s.pass(at(0))) == Ids{1});  // job 2 has the time from 40 to 60
    s.set_instance_end(at(1000));
    CHECK(s.wants_pass());
    REQUIRE(s.alloc(waiting(3, 1, 10)).has_value());
    CHECK(s.pass(at(1)).started.empty());
    REQUIRE(s.free(JobId{1}, {}, true).has_value());
    const auto effects = s.pass(at(40));
    REQUIRE(ids(effects) == Ids{2});
    CHECK(effects.started[0].end == at(80));
    CHECK(effects.annotations.at(0).estimate == at(80));  // job 3, after it
}

// Mutant: libsched/resource/resource_space.cpp: expected(running.end) ? running.end : planned(running.end) =>
// planned(running.end)
TEST_CASE("scheduler: a job keeps its own limit beyond the end of the instance, which may be extended") {
    auto s = scheduler(Easy{}, 1, 5);
    s.set_instance_end(at(60));
    REQUIRE(s.alloc(waiting(1, 4, 100)).has_value());
    PendingJob endless = waiting(2, 1, 0);
    endless.limit = Duration::max();
    REQUIRE(s.alloc(endless).has_value());
    const auto effects = s.pass(at(0));
    REQUIRE(ids(effects) == Ids{1, 2});
    CHECK(effects.started[0].end == at(100));
    CHECK(effects.started[1].end == at(60));
    s.set_instance_end(at(500));
    REQUIRE(s.alloc(waiting(3, 4, 10)).has_value());
    CHECK(s.pass(at(1)).annotations.at(0).estimate == at(100));
    REQUIRE(s.free(JobId{1}, {}, true).has_value());
    CHECK(ids(s.pass(at(2))) == Ids{3});
}

// Mutant: libsched/resource/resource_space.cpp: if (!pool_.index_of(named.rank)) { => if (false) {
TEST_CASE("scheduler: a part that names a removed node frees the others") {
    auto s = scheduler(Fcfs{}, 3, 2);
    REQUIRE(s.alloc(waiting(1, 6, 10)).has_value());
    REQUIRE(ids(s.pass(at(0))) == Ids{1});
    CHECK(s.shrink(IdSet::range(0, 0)).empty());
    REQUIRE(s.free(JobId{1}, {{{0, IdSet::range(0, 1), {}}, {1, IdSet::range(0, 1), {}}}}, false).has_value());
    CHECK(s.space().pool().free_cores() == 2);
    CHECK_FALSE(s.free(JobId{1}, {{{1, IdSet::range(0, 1), {}}}}, false).has_value());
    REQUIRE(s.free(JobId{1}, {}, true).has_value());
    CHECK(s.space().pool().free_cores() == 4);
}

// Mutant: libsched/scheduler.cpp: if (!known->second) { => if (false) {
TEST_CASE("scheduler: who can never run without the removed nodes waits no more and holds up nobody") {
    auto s = scheduler(Fcfs{}, 2, 2);
    PendingJob bound = waiting(1, 1, 10);
    Constraint on_first;
    on_first.kind = Constraint::Kind::ranks;
    on_first.ranks = IdSet::range(0, 0);
    REQUIRE(s.alloc(bound, on_first).has_value());
    REQUIRE(s.alloc(waiting(2, 3, 10)).has_value());
    REQUIRE(s.alloc(waiting(3, 2, 10)).has_value());
    const auto refused = s.shrink(IdSet::range(0, 0));
    REQUIRE(refused.size() == 2);
    CHECK(refused[0].first == JobId{1});
    CHECK(refused[1].first == JobId{2});
    CHECK(refused[1].second.message == "unsatisfiable request: the job asks for 3 cores; this instance has 2");
    CHECK(ids(s.pass(at(0))) == Ids{3});
    CHECK(s.pending() == 0);
}
