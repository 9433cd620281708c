// SPDX-License-Identifier: LGPL-3.0-only
// HandDown: how many jobs wait in a child beyond its room, and which.
#include <catch2/catch.hpp>

#include "t/unit/job_route/hand_down_scene.hpp"

using namespace weir::route;
using namespace weir::route::test;

TEST_CASE("hand down: beyond its room a child gets the depth, or a load of its size; the rest waits") {
    HandDown plan(2);
    plan.set_child(left, of_cores(4));
    for (std::uint64_t id = 10; id < 30; id++) {
        plan.set(JobId{id}, a_job(Standing::waits, 1));
    }
    CHECK(carried_out(plan, 1).size() == 8);  // 4 fit, and 4 more are a load of 4 cores
    HandDown large(2);
    large.set_child(left, of_cores(4));
    for (std::uint64_t id = 10; id < 30; id++) {
        large.set(JobId{id}, a_job(Standing::waits, 4));
    }
    CHECK(carried_out(large, 4).size() == 3);
    large.set(JobId{10}, a_job(Standing::absent, 4));
    CHECK(carried_out(large, 4) == Moves{{JobId{13}, {}, left}});
}

namespace {

/// Only one child takes the jobs of the queue "debug".
HandDown::Rules one_takes_debug() {
    return {[](JobId, JobId) { return true; },
            [](const HandDown::JobClass& jobs) {
                return HandDown::Takers{100, jobs.queue == "debug"};
            },
            all_take};
}

HandDown::Job a_debug_job(Standing standing, std::int64_t cores, JobId child = {}, std::int64_t priority = 16) {
    HandDown::Job job = a_job(standing, cores, child, priority);
    job.queue = "debug";
    return job;
}

}  // namespace

// Mutant: modules/job-route/hand_down.cpp: reach.is_bound = !takers.is_one; => reach.is_bound = true;
TEST_CASE("hand down: what one child alone takes goes there without a bound, and takes no place of others") {
    HandDown plan(2);
    plan.set_child(left, {{"batch", "debug"}, 4, 4, true});
    for (std::uint64_t id = 10; id < 1010; id++) {
        plan.set(JobId{id}, a_debug_job(Standing::waits, 4));
    }
    for (std::uint64_t id = 2000; id < 2010; id++) {
        plan.set(JobId{id}, a_job(Standing::waits, 4));
    }
    CHECK(plan.plan(one_takes_debug()).size() == 1002);
}

// Mutant: modules/job-route/hand_down_pass.cpp: if (!(*place < *source.next)) { => if (false) {
TEST_CASE("hand down: one of the many that wait in their only child is treated as if they were few") {
    HandDown plan(2);
    plan.set_child(left, {{"batch", "debug"}, 4, 0, true});
    for (std::uint64_t id = 10; id < 1010; id++) {
        plan.set(JobId{id}, a_debug_job(Standing::ahead, 4, left));
    }
    CHECK_FALSE(is_objected(plan, JobId{900}, one_takes_debug()));
    CHECK(plan.plan(one_takes_debug()).empty());
    plan.set(JobId{5}, a_job(Standing::asked, 4, left, 20));
    CHECK(is_objected(plan, JobId{900}, one_takes_debug()));
    CHECK(is_objected(plan, JobId{10}, one_takes_debug()));
    plan.set(JobId{5}, a_job(Standing::asked, 4, left, 16));
    CHECK_FALSE(is_objected(plan, JobId{900}, one_takes_debug()));
}

TEST_CASE("hand down: what waits in its only child goes to a guest's that has room, or to a lender") {
    HandDown plan(2);
    plan.set_child(left, {{"debug"}, 4, 4, true});
    plan.set_child(right, {{"debug"}, 4, 0, true});
    HandDown::Rules rules = one_takes_debug();
    rules.may_have = [](JobId job, JobId child) { return child == left || job == JobId{700}; };
    for (std::uint64_t id = 10; id < 1010; id++) {
        plan.set(JobId{id}, a_debug_job(Standing::ahead, 4, left));
    }
    CHECK(plan.plan(rules) == Moves{{JobId{700}, left, right}});
    plan.set_child(right, {{"batch"}, 4, 0, true, {"debug"}});
    CHECK(plan.plan(one_takes_debug()) == Moves{{JobId{10}, left, right}});
}

// Mutant: modules/job-route/hand_down.cpp: room.growth *= 2; => room.growth *= 1;
TEST_CASE("hand down: a child with idle cores gets more each second, of those that fit, as long as they do not start") {
    HandDown plan(2);
    plan.set_child(left, of_cores(4));
    plan.set(JobId{1}, a_job(Standing::busy, 2, left));
    for (std::uint64_t id = 10; id < 1010; id++) {
        plan.set(JobId{id}, a_job(Standing::waits, id % 2 == 0 ? 3 : 2, {}, id < 100 ? 20 : 16));
    }
    const auto carry_out = [&] {
        const Moves moves = planned(plan);
        for (const HandDown::Move& move : moves) {
            CHECK(move.from.value == 0);
            const std::int64_t cores = move.id.value % 2 == 0 ? 3 : 2;
            plan.set(move.id, a_job(Standing::ahead, cores, move.to, move.id.value < 100 ? 20 : 16));
        }
        return moves.size();
    };
    CHECK(carry_out() == 3);  // the first that fits, and the depth
    plan.tick();
    CHECK(carry_out() == 2);
    plan.tick();
    CHECK(carry_out() == 4);
    for (int i = 0; i < 10; i++) {
        plan.tick();
        (void)carry_out();
    }
    plan.tick();
    CHECK(carry_out() == 0);  // 1 and 2 times 32
    plan.set_child(left, of_cores(4, 2));
    CHECK(planned(plan).empty());  // no cores are idle, and what is there stays
}

TEST_CASE("hand down: a job behind one that does not fit is given for backfilling") {
    HandDown plan = two_children(4, 1);
    plan.set(JobId{1}, a_job(Standing::busy, 3, left));
    plan.set(JobId{2}, a_job(Standing::busy, 3, right));
    plan.set(JobId{10}, a_job(Standing::waits, 4));
    plan.set(JobId{11}, a_job(Standing::waits, 4));
    plan.set(JobId{12}, a_job(Standing::waits, 4));
    plan.set(JobId{13}, a_job(Standing::waits, 1));
    CHECK(planned(plan) == Moves{{JobId{10}, {}, left}, {JobId{11}, {}, right}, {JobId{13}, {}, left}});
}

TEST_CASE("hand down: a change of order gives room to the better job, and takes back what is too much") {
    HandDown plan(1);
    plan.set_child(left, of_cores(2));
    plan.set(JobId{1}, a_job(Standing::busy, 2, left));
    plan.set(JobId{10}, a_job(Standing::ahead, 2, left));
    plan.set(JobId{11}, a_job(Standing::waits, 2, {}, 50));
    CHECK(planned(plan) == Moves{{JobId{11}, {}, left}});
    plan.set(JobId{11}, a_job(Standing::ahead, 2, left, 50));
    CHECK(planned(plan).empty());  // up to twice the depth
    plan.set(JobId{12}, a_job(Standing::waits, 2, {}, 60));
    plan.set(JobId{12}, a_job(Standing::ahead, 2, left, 60));
    CHECK(planned(plan) == Moves{{JobId{10}, left, {}}});
}

// Seed 179592598400096 of the world with 400 jobs: of two jobs of one size the worse one started in its partition, and
// the better one had waited above for 13 s.
TEST_CASE("hand down: a job comes back that would start before a better one which waits here") {
    HandDown plan = two_children(4);
    plan.set(JobId{1}, a_job(Standing::busy, 4, left));
    plan.set(JobId{2}, a_job(Standing::busy, 4, right));
    for (const std::uint64_t id : {10U, 11U}) {
        plan.set(JobId{id}, a_job(Standing::ahead, 4, left, 50));
        plan.set(JobId{id + 2}, a_job(Standing::ahead, 4, right, 50));
    }
    plan.set(JobId{14}, a_job(Standing::ahead, 3, left));
    CHECK(planned(plan).empty());  // up to twice the depth
    plan.set(JobId{20}, a_job(Standing::waits, 4, {}, 30));
    CHECK(planned(plan).empty());  // 14 may start where 20 does not fit
    plan.set(JobId{21}, a_job(Standing::waits, 3, {}, 20));
    CHECK(planned(plan) == Moves{{JobId{14}, left, {}}});
    plan.set(JobId{14}, a_job(Standing::waits, 3));
    CHECK(planned(plan).empty());
    plan.set(JobId{10}, a_job(Standing::absent, 4));
    CHECK(planned(plan) == Moves{{JobId{20}, {}, left}});
}
