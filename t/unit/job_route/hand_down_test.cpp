// SPDX-License-Identifier: LGPL-3.0-only
// HandDown: who gets a job, who keeps it, and when it is moved.
#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>

#include "modules/job-route/hand_down.hpp"

namespace {

using weir::route::HandDown;
using weir::route::JobId;
using Moves = std::vector<HandDown::Move>;
using Standing = HandDown::Standing;

constexpr JobId left{1};
constexpr JobId right{2};

HandDown::ChildFacts of_cores(std::int64_t cores, std::int64_t own = 0) {
    return {{"batch"}, cores, own, true};
}

HandDown two_children(std::int64_t cores, std::int64_t depth = 2) {
    HandDown plan(depth);
    plan.set_child(left, of_cores(cores));
    plan.set_child(right, of_cores(cores));
    return plan;
}

HandDown::Job a_job(Standing standing, std::int64_t cores, JobId child = {}, std::int64_t priority = 16) {
    return {standing, child, priority, cores, "batch", true};
}

bool all_take(int, int) {
    return true;
}

Moves planned(HandDown& plan) {
    return plan.plan(
        {[](JobId, JobId) { return true; }, [](const HandDown::JobClass&) { return HandDown::Takers{100}; }, all_take});
}

/// Carries a plan out, as if each job were on record at once.
Moves carried_out(HandDown& plan, std::int64_t cores) {
    Moves moves = planned(plan);
    for (const HandDown::Move& move : moves) {
        plan.set(move.id, move.to.value == 0 ? a_job(Standing::waits, cores) : a_job(Standing::ahead, cores, move.to));
    }
    return moves;
}

}  // namespace

TEST_CASE("hand down: to the least loaded with room, in the order of priority, then of age") {
    HandDown plan = two_children(4);
    plan.set(JobId{12}, a_job(Standing::waits, 2));
    plan.set(JobId{11}, a_job(Standing::waits, 2));
    plan.set(JobId{13}, a_job(Standing::waits, 3, {}, 50));
    CHECK(planned(plan) == Moves{{JobId{13}, {}, left}, {JobId{11}, {}, right}, {JobId{12}, {}, right}});
    CHECK_FALSE(plan.is_due());
}

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

// Mutant: modules/job-route/hand_down_pass.cpp: kind.is_bound = !takers.is_one; => kind.is_bound = true;
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
    CHECK_FALSE(plan.is_passed_over(JobId{900}, one_takes_debug()));
    CHECK(plan.plan(one_takes_debug()).empty());
    plan.set(JobId{5}, a_job(Standing::asked, 4, left, 20));
    CHECK(plan.is_passed_over(JobId{900}, one_takes_debug()));
    CHECK(plan.is_passed_over(JobId{10}, one_takes_debug()));
    plan.set(JobId{5}, a_job(Standing::asked, 4, left, 16));
    CHECK_FALSE(plan.is_passed_over(JobId{900}, one_takes_debug()));
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

// Mutant: modules/job-route/hand_down.cpp: child.growth *= 2; => child.growth *= 1;
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

// Mutant: modules/job-route/hand_down_pass.cpp: is_well = has_free && !is_stuck; => is_well = true;
TEST_CASE("hand down: what waits in one child goes to another that has room; a give on its way stays") {
    HandDown plan = two_children(4);
    plan.set(JobId{1}, a_job(Standing::busy, 4, left));
    plan.set(JobId{10}, a_job(Standing::ahead, 4, left));
    plan.set_child(right, of_cores(4, 4));
    CHECK(planned(plan).empty());
    plan.set_child(right, of_cores(4));
    CHECK(planned(plan) == Moves{{JobId{10}, left, right}});
    plan.set(JobId{10}, a_job(Standing::asked, 4, left));
    CHECK(planned(plan).empty());
}

// Mutant: modules/job-route/hand_down_pass.cpp: if (!facts.is_open) { => if (!facts.is_open || !record.job.is_there) {
TEST_CASE("hand down: a job that its child has not acknowledged moves as one that is there") {
    HandDown plan = two_children(4);
    HandDown::Job coming = a_job(Standing::ahead, 4, left);
    coming.is_there = false;
    plan.set(JobId{10}, coming);
    CHECK(planned(plan).empty());
    plan.set(JobId{1}, a_job(Standing::busy, 4, left));
    CHECK(planned(plan) == Moves{{JobId{10}, left, right}});
}

TEST_CASE("hand down: what a child's own jobs leave goes to a queue that it lends to, and comes back") {
    HandDown plan = two_children(4);
    plan.set_child(left, of_cores(4, 4));  // full
    HandDown::ChildFacts lender{{"debug"}, 4, 0, true, {"batch"}};
    plan.set_child(right, lender);
    plan.set(JobId{10}, a_job(Standing::ahead, 3, left));
    plan.set(JobId{11}, a_job(Standing::waits, 4));
    plan.set(JobId{12}, a_job(Standing::waits, 1));
    HandDown::Job own = a_job(Standing::ahead, 3, right);
    own.queue = "debug";
    SECTION("in the order of the queue") {
        CHECK(carried_out(plan, 4) == Moves{{JobId{11}, {}, left}, {JobId{10}, left, right}, {JobId{12}, {}, right}});
        plan.set(JobId{10}, a_job(Standing::ahead, 3, right));
        plan.set(JobId{12}, a_job(Standing::ahead, 1, right));
        CHECK(planned(plan).empty());
        plan.set(JobId{9}, own);
        CHECK(planned(plan) == Moves{{JobId{10}, right, left}});
    }
    SECTION("not while one of its own waits for cores") {
        lender.own_cores = 2;
        plan.set_child(right, lender);
        plan.set(JobId{9}, own);
        CHECK(planned(plan) == Moves{{JobId{11}, {}, left}});
    }
    SECTION("beside what was lent already and is on its way") {
        plan.set(JobId{10}, {});
        plan.set(JobId{11}, {});
        plan.set(JobId{13}, a_job(Standing::asked, 4, right));
        CHECK(planned(plan) == Moves{{JobId{12}, {}, left}});  // 12 is older
    }
    SECTION("also when no child of the queue is open") {
        plan.set_child(left, {{"batch"}, 4, 4, false});
        CHECK(planned(plan) == Moves{{JobId{11}, {}, right}});
    }
}

TEST_CASE("hand down: room goes to the first in order, wherever it waits") {
    HandDown plan = two_children(4);
    plan.set(JobId{1}, a_job(Standing::busy, 4, left));
    plan.set(JobId{10}, a_job(Standing::ahead, 3, left, 50));
    plan.set(JobId{11}, a_job(Standing::ahead, 3, right));
    CHECK(planned(plan) == Moves{{JobId{10}, left, right}});
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

TEST_CASE("hand down: a job that fits and does not start goes to another after a while, if that has room") {
    HandDown plan = two_children(4);
    plan.set(JobId{10}, a_job(Standing::ahead, 4, left));
    plan.tick();
    CHECK(planned(plan).empty());
    plan.set(JobId{10}, a_job(Standing::ahead, 4, left, 20));  // another priority does not begin the wait anew
    (void)planned(plan);
    plan.tick();
    CHECK(plan.is_due());
    CHECK(planned(plan) == Moves{{JobId{10}, left, right, true}});
    plan.set_child(right, of_cores(4, 1));
    CHECK(planned(plan).empty());
}

TEST_CASE("hand down: a child that starts a worse job gives its cores to the better one that is coming") {
    HandDown plan = two_children(2);
    const HandDown::Rules rules{[](JobId, JobId) { return true; },
                                [](const HandDown::JobClass&) { return HandDown::Takers{100}; }, all_take};
    plan.set(JobId{1}, a_job(Standing::busy, 2, left));
    plan.set(JobId{11}, a_job(Standing::ahead, 2, right, 10));
    CHECK_FALSE(plan.is_passed_over(JobId{11}, rules));
    plan.set(JobId{10}, a_job(Standing::ahead, 2, left, 20));
    CHECK(plan.is_passed_over(JobId{11}, rules));
    plan.set(JobId{2}, a_job(Standing::busy, 2, right));  // its end is not on record yet
    CHECK(plan.is_passed_over(JobId{11}, rules));
    plan.set(JobId{2}, {});
    plan.set(JobId{10}, a_job(Standing::ahead, 2, left, 10));  // older, not better
    CHECK_FALSE(plan.is_passed_over(JobId{11}, rules));
    plan.set(JobId{10}, a_job(Standing::asked, 2, right, 20));
    CHECK(plan.is_passed_over(JobId{11}, rules));
    plan.set(JobId{10}, a_job(Standing::ahead, 2, right, 20));  // there: the child had a reason
    CHECK_FALSE(plan.is_passed_over(JobId{11}, rules));
    HandDown::Job sent = a_job(Standing::ahead, 2, right, 20);
    sent.is_there = false;
    plan.set(JobId{10}, sent);
    CHECK(plan.is_passed_over(JobId{11}, rules));
    plan.set(JobId{10}, a_job(Standing::waits, 3, {}, 20));  // too large
    CHECK_FALSE(plan.is_passed_over(JobId{11}, rules));
}

TEST_CASE("hand down: only to children that are open, large enough, serve the queue and may have it") {
    HandDown plan(2);
    plan.set_child(left, of_cores(2));
    plan.set_child(right, {{"debug"}, 8, 0, true});
    plan.set_child(JobId{3}, {{"batch"}, 8, 0, false});
    plan.set_child(JobId{4}, of_cores(8));
    plan.set(JobId{10}, a_job(Standing::waits, 4));
    CHECK(plan.plan({[](JobId, JobId child) { return child != JobId{4}; },
                     [](const HandDown::JobClass&) { return HandDown::Takers{8}; }, all_take})
              .empty());
    CHECK(planned(plan) == Moves{{JobId{10}, {}, JobId{4}}});
    plan.remove_child(JobId{4});
    CHECK(planned(plan).empty());
    const auto small = [](const HandDown::JobClass&) { return HandDown::Takers{2}; };
    CHECK(plan.plan({[](JobId, JobId) { return true; }, small, all_take}) ==
          Moves{{JobId{10}, {}, left}});  // it says why not
}

TEST_CASE("hand down: the number of cores has no effect on its arithmetic") {
    HandDown plan(2);
    plan.set_child(left, of_cores(weir::route::cores_max));
    plan.set_child(right, of_cores(weir::route::cores_max, weir::route::cores_max));
    for (std::uint64_t id = 10; id < 30; id++) {
        plan.set(JobId{id}, a_job(Standing::waits, weir::route::cores_max));
    }
    CHECK(planned(plan).size() == 5);
}

namespace {

/// The bits of a kind are the ranks that take it.
bool bit_takes(int kind, int rank) {
    return (kind >> rank & 1) != 0;
}

Moves planned_by_rules(HandDown& plan, std::int64_t ceiling = 100) {
    return plan.plan({[](JobId, JobId) { return true; },
                      [ceiling](const HandDown::JobClass&) { return HandDown::Takers{ceiling}; }, bit_takes});
}

HandDown::Job of_kind(HandDown::Job job, int kind) {
    job.kind = kind;
    return job;
}

HandDown::ChildFacts of_rank(std::int64_t cores, int rank) {
    HandDown::ChildFacts facts = of_cores(cores);
    facts.rank = rank;
    facts.preference = rank;
    return facts;
}

}  // namespace

// Mutant: modules/job-route/hand_down_pass.cpp: first != other ? first < other => first != other ? first > other
TEST_CASE("hand down: the lowest preference that takes the job and has room is preferred, whatever the load") {
    HandDown plan(2);
    plan.set_child(left, of_rank(4, 1));
    plan.set_child(right, of_rank(8, 0));
    plan.set(JobId{10}, of_kind(a_job(Standing::waits, 5), 0b11));
    plan.set(JobId{11}, of_kind(a_job(Standing::waits, 3), 0b11));
    plan.set(JobId{12}, of_kind(a_job(Standing::waits, 1), 0b11));
    plan.set(JobId{13}, of_kind(a_job(Standing::waits, 1), 0b10));
    CHECK(planned_by_rules(plan) ==
          Moves{{JobId{10}, {}, right}, {JobId{11}, {}, right}, {JobId{12}, {}, left}, {JobId{13}, {}, left}});
}

TEST_CASE("hand down: a job that its child does not take comes back, though it has room there") {
    HandDown plan(2);
    plan.set_child(left, of_rank(4, 0));
    plan.set(JobId{10}, of_kind(a_job(Standing::ahead, 2, left), 0b10));
    plan.set(JobId{11}, of_kind(a_job(Standing::asked, 1, left), 0b10));
    plan.set(JobId{12}, of_kind(a_job(Standing::busy, 1, left), 0b10));
    CHECK(planned_by_rules(plan) == Moves{{JobId{10}, left, {}}});
    plan.set_child(right, of_rank(2, 1));
    CHECK(planned_by_rules(plan) == Moves{{JobId{10}, left, right}});
}

// Kills: what a child holds back counts as waiting for its cores (seed 36 of the world, 1x3 with 400 jobs).
TEST_CASE("hand down: what a child holds back takes no room there, and keeps it from lending nothing") {
    HandDown plan;
    plan.set_child(left, of_cores(2));
    plan.set_child(right, {{"debug"}, 2, 0, true, {"batch"}});
    for (std::uint64_t id = 20; id < 24; id++) {
        HandDown::Job held = a_job(Standing::ahead, 1, right);
        held.queue = "debug";
        held.is_held_back = true;
        plan.set(JobId{id}, held);
    }
    plan.set(JobId{11}, a_job(Standing::busy, 2, left));
    plan.set(JobId{12}, a_job(Standing::waits, 2));
    CHECK(planned(plan) == Moves{{JobId{12}, {}, right}});
}

TEST_CASE("hand down: what a child holds back goes to another one that has room, and counts for its depth") {
    HandDown plan = two_children(2);
    plan.set(JobId{11}, a_job(Standing::busy, 2, left));
    plan.set(JobId{12}, a_job(Standing::busy, 2, right));
    for (std::uint64_t id = 20; id < 22; id++) {
        HandDown::Job held = a_job(Standing::ahead, 2, left);
        held.is_held_back = true;
        plan.set(JobId{id}, held);
    }
    CHECK(planned(plan).empty());
    plan.set(JobId{30}, a_job(Standing::waits, 2, {}, 10));
    CHECK(planned(plan) == Moves{{JobId{30}, {}, right}});  // the depth of the left one is used
    plan.set(JobId{30}, a_job(Standing::ahead, 2, right));
    plan.set(JobId{12}, {});
    CHECK(planned(plan).empty());  // a held-back job stays for a while
    plan.tick();
    plan.tick();
    CHECK(planned(plan) == Moves{{JobId{20}, left, right, true}});
}

// Kills: a job that each child holds back goes back and forth as fast as the messages do.
TEST_CASE("hand down: what every child holds back moves less and less often") {
    HandDown plan = two_children(2);
    HandDown::Job held = a_job(Standing::ahead, 1, left);
    held.is_held_back = true;
    plan.set(JobId{20}, held);
    std::vector<int> seconds;
    for (int second = 0; second < 2000; second++) {
        for (const HandDown::Move& move : planned(plan)) {
            held.child = move.to;
            held.is_held_back = false;
            plan.set(JobId{20}, held);  // the child looks at it first
            held.is_held_back = true;
            plan.set(JobId{20}, held);
            seconds.push_back(second);
        }
        plan.tick();
    }
    REQUIRE(seconds.size() > 8);
    CHECK(std::vector<int>(seconds.begin(), seconds.begin() + 8) == std::vector<int>{2, 6, 14, 30, 62, 126, 254, 510});
    CHECK(seconds.size() == 13);
}

TEST_CASE("hand down: a lender takes only what its rules say, and gives back what they do not say any more") {
    HandDown plan(2);
    HandDown::ChildFacts lender = of_rank(4, 0);
    lender.serves = {"debug"};
    lender.overflow = {"batch"};
    plan.set_child(left, lender);
    plan.set(JobId{10}, of_kind(a_job(Standing::waits, 2), 0b10));
    plan.set(JobId{11}, of_kind(a_job(Standing::waits, 2), 0b01));
    plan.set(JobId{12}, of_kind(a_job(Standing::ahead, 1, left), 0b10));
    CHECK(planned_by_rules(plan) == Moves{{JobId{11}, {}, left}, {JobId{12}, left, {}}});
}

// Mutant: modules/job-route/hand_down.hpp: {job.queue, job.kind, job.cores, => {job.queue, 1, job.cores,
TEST_CASE("hand down: however many jobs wait that a child does not take, those that it takes go there") {
    HandDown plan(2);
    plan.set_child(left, of_rank(4, 0));
    plan.set_child(right, of_rank(1, 1));
    for (std::uint64_t id = 10; id < 5000; id++) {
        plan.set(JobId{id}, of_kind(a_job(Standing::waits, 1), 0b10));
    }
    plan.set(JobId{5000}, of_kind(a_job(Standing::waits, 1), 0b01));
    const Moves moves = planned_by_rules(plan);
    CHECK(std::find(moves.begin(), moves.end(), HandDown::Move{JobId{5000}, {}, left}) != moves.end());
    CHECK(moves.size() < 10);
}

// Mutant: modules/job-route/hand_down.cpp: if (free < 0 || => if (
TEST_CASE("hand down: a job waits for cores here, and with a child that has no room for it") {
    const auto two_cores = [](const HandDown::JobClass& jobs) { return jobs.cores <= 2; };
    HandDown plan(2);
    plan.set_child(left, of_cores(4));
    CHECK_FALSE(plan.is_awaited(two_cores));
    plan.set(JobId{10}, a_job(Standing::ahead, 2, left));
    plan.set(JobId{11}, a_job(Standing::ahead, 2, left));
    CHECK_FALSE(plan.is_awaited(two_cores));  // they start in a moment
    plan.set(JobId{12}, a_job(Standing::busy, 2, left));
    CHECK(plan.is_awaited(two_cores));
    plan.set(JobId{11}, {});
    CHECK_FALSE(plan.is_awaited(two_cores));
    plan.set(JobId{13}, a_job(Standing::ahead, 4, left, 50));
    CHECK_FALSE(plan.is_awaited(two_cores));  // nobody asked for one of four
    plan.tick();
    plan.tick();
    CHECK(plan.is_awaited(two_cores));  // 10 fits and has not started: the one of four is before it
    HandDown::Job held = a_job(Standing::ahead, 2, left);
    held.is_held_back = true;
    plan.set(JobId{10}, held);
    CHECK_FALSE(plan.is_awaited(two_cores));
    plan.set(JobId{10}, a_job(Standing::waits, 2));
    CHECK(plan.is_awaited(two_cores));
}
