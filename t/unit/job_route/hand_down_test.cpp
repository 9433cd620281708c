// SPDX-License-Identifier: LGPL-3.0-only
// HandDown: who gets a job, who keeps it, and when it is moved.
#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>

#include "t/unit/job_route/hand_down_scene.hpp"

using namespace weir::route;
using namespace weir::route::test;

TEST_CASE("hand down: to the least loaded with room, in the order of priority, then of age") {
    HandDown plan = two_children(4);
    plan.set(JobId{12}, a_job(Standing::waits, 2));
    plan.set(JobId{11}, a_job(Standing::waits, 2));
    plan.set(JobId{13}, a_job(Standing::waits, 3, {}, 50));
    CHECK(planned(plan) == Moves{{JobId{13}, {}, left}, {JobId{11}, {}, right}, {JobId{12}, {}, right}});
    CHECK_FALSE(plan.is_due());
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

// Mutant: modules/job-route/hand_down_pass.cpp: if (!budget.child->facts.is_open) { => if (!budget.child->facts.is_open
// || !record.job.is_there) {
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

// Mutant: modules/job-route/hand_down.cpp: child.waiting_cores <= room.free && => child.waiting_cores >= 0 &&
TEST_CASE("hand down: room goes to the first in order, wherever it waits") {
    HandDown plan = two_children(4);
    plan.set(JobId{1}, a_job(Standing::busy, 4, left));
    plan.set(JobId{10}, a_job(Standing::ahead, 3, left, 50));
    plan.set(JobId{11}, a_job(Standing::ahead, 3, right));
    CHECK(planned(plan) == Moves{{JobId{10}, left, right}});
}

// Mutant: modules/job-route/hand_down.cpp: waiting_.empty() && watched_ == in_children_ && => waiting_.empty() &&
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

// Mutant: modules/job-route/hand_down_pass.cpp: record.job.is_there || plan_.is_stuck(record) => record.job.is_there
TEST_CASE("hand down: a child that starts a worse job gives its cores to the better one that is coming") {
    HandDown plan = two_children(2);
    const HandDown::Rules rules{[](JobId, JobId) { return true; },
                                [](const HandDown::JobClass&) { return HandDown::Takers{100}; }, all_take};
    plan.set(JobId{1}, a_job(Standing::busy, 2, left));
    plan.set(JobId{11}, a_job(Standing::ahead, 2, right, 10));
    CHECK_FALSE(is_objected(plan, JobId{11}, rules));
    plan.set(JobId{10}, a_job(Standing::ahead, 2, left, 20));
    CHECK(is_objected(plan, JobId{11}, rules));
    plan.set(JobId{2}, a_job(Standing::busy, 2, right));  // its end is not on record yet
    CHECK(is_objected(plan, JobId{11}, rules));
    plan.set(JobId{2}, {});
    plan.set(JobId{10}, a_job(Standing::ahead, 2, left, 10));  // older, not better
    CHECK_FALSE(is_objected(plan, JobId{11}, rules));
    plan.set(JobId{10}, a_job(Standing::asked, 2, right, 20));
    CHECK(is_objected(plan, JobId{11}, rules));
    plan.set(JobId{10}, a_job(Standing::ahead, 2, right, 20));
    plan.tick();
    plan.tick();  // there for a while: the child had a reason
    CHECK_FALSE(is_objected(plan, JobId{11}, rules));
    HandDown::Job sent = a_job(Standing::ahead, 2, right, 20);
    sent.is_there = false;
    plan.set(JobId{10}, {});
    plan.set(JobId{10}, sent);
    CHECK(is_objected(plan, JobId{11}, rules));
    for (std::int64_t i = 0; i < HandDown::stuck_after; i++) {
        plan.tick();
    }
    CHECK_FALSE(is_objected(plan, JobId{11}, rules));        // it does not arrive
    plan.set(JobId{10}, a_job(Standing::waits, 3, {}, 20));  // too large
    CHECK_FALSE(is_objected(plan, JobId{11}, rules));
}

// Mutant: modules/job-route/hand_down_pass.cpp: (can_borrow || needs_lender(kind)) => can_borrow
// Mutant: modules/job-route/hand_down_loans.cpp: budgets_[best].is_reserved = true; =>
TEST_CASE("hand down: worse jobs do not borrow what a job waits for that only the lender can hold") {
    HandDown plan(2);
    plan.set_child(left, of_cores(2));
    HandDown::ChildFacts lender = of_cores(4);
    lender.serves = {"debug"};
    lender.overflow = {"batch"};
    plan.set_child(right, lender);
    for (const JobId id : {JobId{1}, JobId{2}}) {
        plan.set(id, a_job(Standing::busy, 1, right));
        plan.set(JobId{id.value + 2}, a_job(Standing::busy, 1, left));
    }
    plan.set(JobId{11}, a_job(Standing::waits, 1, {}, 10));
    CHECK(planned(plan) == Moves{{JobId{11}, {}, right}});
    plan.set(JobId{10}, a_job(Standing::waits, 4, {}, 20));
    CHECK(planned(plan) == Moves{{JobId{11}, {}, left}});  // behind the jobs that run there
    plan.set(JobId{11}, a_job(Standing::ahead, 1, right, 10));
    CHECK(planned(plan) == Moves{{JobId{11}, right, left}});  // it had not started
    plan.set(JobId{11}, a_job(Standing::waits, 1, {}, 30));
    CHECK(planned(plan) == Moves{{JobId{11}, {}, right}});  // a better one may
    for (const JobId id : {JobId{1}, JobId{2}}) {
        plan.set(id, {});
    }
    plan.set(JobId{11}, a_job(Standing::waits, 1, {}, 10));
    CHECK(planned(plan) == Moves{{JobId{11}, {}, left}, {JobId{10}, {}, right}});
}

// Mutant: modules/job-route/hand_down_pass.cpp: return is_lent ? room.total : => return
TEST_CASE(
    "hand down: a job of another queue gives its cores to the child's own that is coming, whatever the priorities") {
    HandDown plan(2);
    HandDown::ChildFacts lender = of_cores(2);
    lender.serves = {"debug"};
    lender.overflow = {"batch"};
    plan.set_child(right, lender);
    const HandDown::Rules rules{[](JobId, JobId) { return true; },
                                [](const HandDown::JobClass&) { return HandDown::Takers{100}; }, all_take};
    plan.set(JobId{11}, a_job(Standing::ahead, 2, right, 20));
    CHECK_FALSE(is_objected(plan, JobId{11}, rules));
    HandDown::Job own = a_job(Standing::ahead, 2, right, 10);
    own.queue = "debug";
    own.is_there = false;
    plan.set(JobId{10}, own);
    CHECK(is_objected(plan, JobId{11}, rules));
}

// Mutant: modules/job-route/hand_down.hpp: record.job.is_there && !record.is_considered && => false &&
// Mutant: modules/job-route/hand_down.hpp: record.job.is_there && !record.is_considered && => record.job.is_there &&
// Mutant: modules/job-route/hand_down.hpp: now_ <= record.arrived + 1 => true
// Mutant: modules/job-route/hand_down_pass.cpp: budget.arrived_jobs.erase(budget.arrived_jobs.begin()); =>
TEST_CASE("hand down: what a child gives as a better job arrives goes to that one, but once") {
    HandDown plan(2);
    plan.set_child(right, of_cores(2));
    const HandDown::Rules rules{[](JobId, JobId) { return true; },
                                [](const HandDown::JobClass&) { return HandDown::Takers{100}; }, all_take};
    using Objections = std::map<JobId, HandDown::Objection>;
    const HandDown::Objection arrived{HandDown::Objection::Kind::arrived, JobId{10}};
    for (const JobId id : {JobId{11}, JobId{12}}) {
        plan.set(id, a_job(Standing::ahead, 1, right, 10));
    }
    plan.tick();
    plan.tick();
    plan.set(JobId{10}, a_job(Standing::ahead, 1, right, 20));
    CHECK(plan.objections({JobId{11}}, rules).empty());  // there is room for both
    plan.set(JobId{2}, a_job(Standing::busy, 1, right));
    const Objections only_last{{JobId{12}, arrived}};
    CHECK(plan.objections({JobId{12}}, rules) == only_last);
    CHECK(plan.objections({JobId{11}, JobId{12}}, rules) == only_last);
    CHECK(plan.objections({JobId{10}}, rules).empty());
    SECTION("a job was recalled for it") {
        plan.set_considered(JobId{10});
        CHECK(plan.objections({JobId{12}}, rules).empty());
        plan.set(JobId{10}, a_job(Standing::waits, 1, {}, 20));
        plan.set(JobId{10}, a_job(Standing::ahead, 1, right, 20));
        CHECK(plan.objections({JobId{12}}, rules) == only_last);  // it came again
    }
    SECTION("a second has passed") {
        plan.tick();
        CHECK(plan.objections({JobId{12}}, rules) == only_last);
        plan.tick();
        CHECK(plan.objections({JobId{12}}, rules).empty());
    }
}

// Mutant: modules/job-route/hand_down.hpp: reaches_.clear(); => ;
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
    plan.rules_changed();
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
