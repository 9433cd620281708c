// SPDX-License-Identifier: LGPL-3.0-only
#include <catch2/catch.hpp>
#include <limits>

#include "modules/job-priority/messages/place_wire.hpp"
#include "modules/job-priority/messages/views.hpp"
#include "modules/job-priority/state/memory_store.hpp"
#include "t/unit/job_priority/support.hpp"

using namespace weir;
using namespace weir::priority;
using namespace weir::priority::testing;

namespace {

using State = PlaceWish::State;
constexpr FluxJobId host_of_pair = 50;
const char* limited_tree = "\"bio\" = 1\n\"bio/@alice\" = {shares = 1, running_jobs_max = 1}\n\"bio/@bob\" = 1\n";

std::unique_ptr<PriorityService> half_of_pair(bool is_child, const char* text = limited_tree) {
    auto made = service(is_child);
    put_tree(*made, text);
    made->begin_backlog();
    made->end_backlog(at(0));
    return made;
}

void waits_here(PriorityService& s, FluxJobId id, double t, std::uint32_t userid = alice) {
    s.apply(submitted(id, t, userid));
    s.apply(eligible(id, t));
}

/// A parent and its partition, with a link on which every message must be passed on by hand.
struct Pair {
    std::unique_ptr<PriorityService> parent = half_of_pair(false);
    std::unique_ptr<PriorityService> child = half_of_pair(true);
    MemoryStore store;
    double now = 10;

    Pair() {
        parent->apply(submitted(host_of_pair, 1, owner));
        parent->apply(eligible(host_of_pair, 1));
        parent->apply(started(host_of_pair, 2, 10));
        parent->attach_child(host_of_pair, "one", 1, at(2));
        attach();
    }
    void attach() {
        child->gate().attach_to_parent(parent->open_places(host_of_pair));
        child->set_parent(PlaceAsks::Parent::counts);
    }
    /// Both evaluate, and the job-manager of the child has answered.
    void pass() {
        now += 1;
        parent->pass(at(now));
        child->pass(at(now));
        (void)push(*child);
        child->pass(at(now), Pass::marked);
    }
    void commit() {
        store.apply(parent->take_batch());
        parent->written();
    }
    PlaceWishes up() {
        PlaceWishes wishes = child->take_wishes(at(now));
        parent->take_wishes_of(host_of_pair, wishes, at(now));
        return wishes;
    }
    std::vector<PlaceAnswer> down() {
        std::vector<PlaceAnswer> answers = parent->gate().places().take_answers(host_of_pair);
        child->take_answers(answers);
        return answers;
    }
    /// Until both have nothing to say.
    void settle() {
        for (int i = 0; i < 5; ++i) {
            pass();
            (void)up();
            pass();
            commit();
            (void)down();
        }
        pass();
    }
    bool waits(PriorityService& s, FluxJobId id) { return s.gate().is_held_back(id); }
};

}  // namespace

// Mutant: modules/job-priority/gate/gate_places.cpp: return is_child_ && settings_ => return false && settings_
TEST_CASE("places: a job that was submitted to a partition waits for its parent's limit") {
    Pair pair;
    waits_here(*pair.parent, 1, 3);
    pair.parent->pass(at(3));
    waits_here(*pair.child, 7, 4);
    pair.pass();
    CHECK(pair.waits(*pair.child, 7));
    CHECK(held_back_by(*pair.child, 7) == "the parent instance, whose limits count this job, has not answered yet");
    pair.settle();
    CHECK(held_back_by(*pair.child, 7) == "bio/@alice runs at most 1 job; 0 run, and 1 starts before it");
    pair.parent->apply(started(1, 20, 1));
    pair.parent->apply(freed(1, 21));
    pair.parent->apply(cleaned(1, 21));
    pair.settle();
    CHECK_FALSE(pair.waits(*pair.child, 7));
    waits_here(*pair.parent, 2, 22);
    pair.settle();
    CHECK(held_back_by(*pair.parent, 2) == "bio/@alice runs at most 1 job; 0 run, and 1 starts before it");
}

TEST_CASE("places: a job without a limit on its payer's path asks nobody") {
    Pair pair;
    waits_here(*pair.child, 7, 4, bob);
    pair.pass();
    CHECK_FALSE(pair.waits(*pair.child, 7));
    (void)pair.up();
    CHECK_FALSE(pair.child->has_wishes());
    CHECK(pair.parent->gate().places().size() == 0);
}

// Mutant: modules/job-priority/gate/child_places.hpp: !jobs_.at(id).is_granted || unwritten_.count(id) == 0 => true
TEST_CASE("places: a place is granted when the state file has it") {
    Pair pair;
    waits_here(*pair.child, 7, 4);
    pair.pass();
    (void)pair.up();
    pair.pass();
    CHECK(pair.parent->gate().places().has_unwritten());
    CHECK(pair.down().empty());
    CHECK(pair.waits(*pair.child, 7));
    pair.commit();
    CHECK(pair.down() == std::vector<PlaceAnswer>{{7, 1, PlaceAnswer::What::granted}});
    pair.pass();
    CHECK_FALSE(pair.waits(*pair.child, 7));
    CHECK(pair.store.saved().places.at({host_of_pair, 7}).user == "alice");
}

// Mutant: modules/job-priority/gate/child_places.cpp: (wish.seen == job.number || !has_place(id)) => (true ||
// !has_place(id))
TEST_CASE("places: what a job said before it knew of its place does not give it back") {
    Pair pair;
    waits_here(*pair.child, 7, 4);
    pair.pass();
    (void)pair.up();
    pair.pass();
    pair.commit();
    pair.child->apply(urgency(7, 5, 20));  // it says again that it waits
    pair.pass();
    (void)pair.up();
    waits_here(*pair.parent, 1, 6);
    pair.pass();
    CHECK(pair.waits(*pair.parent, 1));
    (void)pair.down();
    pair.pass();
    CHECK_FALSE(pair.waits(*pair.child, 7));
    CHECK(pair.waits(*pair.parent, 1));
}

TEST_CASE("places: a held job gives its place back, and waits for another when it is released") {
    Pair pair;
    waits_here(*pair.child, 7, 4);
    pair.settle();
    waits_here(*pair.parent, 1, 6);
    pair.settle();
    CHECK(pair.waits(*pair.parent, 1));
    pair.child->apply(urgency(7, 20, 0));
    pair.settle();
    CHECK_FALSE(pair.waits(*pair.parent, 1));
    pair.child->apply(urgency(7, 30, 16));
    pair.settle();
    CHECK(pair.waits(*pair.child, 7));
}

TEST_CASE("places: after a lowered limit a place is withdrawn, and counts until the child says that the job waits") {
    Pair pair;
    put_tree(*pair.parent, "\"bio\" = 1\n\"bio/@alice\" = {shares = 1, running_jobs_max = 2}\n\"bio/@bob\" = 1\n", 3);
    put_tree(*pair.child, "\"bio\" = 1\n\"bio/@alice\" = {shares = 1, running_jobs_max = 2}\n\"bio/@bob\" = 1\n", 3);
    waits_here(*pair.child, 7, 4);
    waits_here(*pair.child, 8, 4);
    pair.settle();
    CHECK_FALSE(pair.waits(*pair.child, 8));
    put_tree(*pair.parent, limited_tree, 30);
    pair.pass();
    pair.commit();
    const std::vector<PlaceAnswer> answers = pair.down();
    REQUIRE(answers.size() == 1);
    CHECK(answers.front().what == PlaceAnswer::What::waits);
    CHECK(pair.parent->gate()
              .admission()
              .counts()
              .of(*pair.parent->accounting().tree().find("bio/@alice"))
              .running_jobs == 2);
    pair.settle();
    CHECK(pair.parent->gate()
              .admission()
              .counts()
              .of(*pair.parent->accounting().tree().find("bio/@alice"))
              .running_jobs == 1);
    CHECK(pair.waits(*pair.child, answers.front().id));
}

// Mutant: modules/job-priority/gate/child_places.cpp: for (const auto& [key, row] : saved.places) { => for (const auto&
// [key, row] : std::map<ReportedKey, PlaceRow>{}) {
TEST_CASE("places: a parent that was loaded again counts the places that its children hold before they attach") {
    Pair pair;
    waits_here(*pair.child, 7, 4);
    pair.settle();
    pair.commit();
    auto again = service(false);
    REQUIRE(again->restore(pair.store.saved(), at(40)));
    put_tree(*again, limited_tree, 40);
    again->begin_backlog();
    std::vector<JobEvent> events{submitted(host_of_pair, 1, owner), eligible(host_of_pair, 1),
                                 started(host_of_pair, 2, 10)};
    again->add_backlog(events);
    again->add_backlog({submitted(1, 41, alice), eligible(1, 41)});
    again->gate().set_withheld({});  // 1 came after the question, and seems to be starting
    again->end_backlog(at(42));
    again->pass(at(43));
    CHECK(again->gate().is_held_back(1));
    again->apply(freed(host_of_pair, 44));
    (void)push(*again);
    again->pass(at(45));
    CHECK_FALSE(again->gate().is_held_back(1));
}

TEST_CASE("places: while the parent is gone, granted jobs start and others wait; the next link tells all anew") {
    Pair pair;
    waits_here(*pair.child, 7, 4);
    pair.settle();
    pair.child->gate().detach_from_parent();
    pair.parent->close_places(host_of_pair);
    waits_here(*pair.child, 8, 20);
    pair.pass();
    CHECK_FALSE(pair.waits(*pair.child, 7));
    CHECK(pair.waits(*pair.child, 8));
    pair.child->apply(started(7, 21, 1));
    pair.child->apply(freed(7, 22));
    pair.child->apply(cleaned(7, 22));
    pair.attach();
    pair.settle();
    CHECK_FALSE(pair.waits(*pair.child, 8));
    CHECK(pair.parent->gate().places().size() == 1);
}

TEST_CASE("places: active jobs are counted over all instances") {
    Pair pair;
    const char* active = "\"bio\" = 1\n\"bio/@alice\" = {shares = 1, active_jobs_max = 1}\n\"bio/@bob\" = 1\n";
    put_tree(*pair.parent, active, 3);
    put_tree(*pair.child, active, 3);
    waits_here(*pair.parent, 1, 4);
    waits_here(*pair.child, 7, 5);
    pair.settle();
    const auto refused = pair.child->gate().take_refusals();
    REQUIRE(refused.size() == 1);
    CHECK(refused.front().second ==
          "refused by a limit of the share tree: bio/@alice has at most 1 job that wait or run; 1 does");
    CHECK(pair.waits(*pair.child, 7));
}

TEST_CASE("places: messages are read as they were written") {
    PlaceWishes wishes{7, true, {}};
    wishes.jobs.push_back({1, State::gone});
    wishes.jobs.push_back({UINT64_MAX, State::waits, 3, true, {"alice", "bio", "q", "high", 2, 8, Duration{5}}, 9});
    wishes.jobs.push_back({2, State::running, 0, false, {"bob", "", "", "", 1, 1, Duration::max()}, 0});
    const auto read = read_wishes(write_wishes(50, wishes).get());
    REQUIRE(read);
    CHECK(read->link == 7);
    CHECK(read->is_complete);
    CHECK(read->jobs == wishes.jobs);
    const std::vector<PlaceAnswer> answers{{UINT64_MAX, 4, PlaceAnswer::What::refused, "no"}, {1, 0}};
    CHECK(*read_answers(write_answers(answers).get()) == answers);
}

TEST_CASE("places: a message that cannot be right is refused") {
    const char* texts[] = {R"({})",
                           R"({"jobs": [[1]]})",
                           R"({"jobs": [[1, "runs"]]})",
                           R"({"jobs": [["a", "gone"]]})",
                           R"({"jobs": [[1, "waits", 0, false, "u", "", "", "", 0, 1, null, 1]]})",
                           R"({"jobs": [[1, "waits", 0, false, "u", "", "", "", 1, 9999999999999, null, 1]]})",
                           R"({"jobs": [[1, "waits", 0, false, 3, "", "", "", 1, 1, null, 1]]})",
                           R"({"jobs": [[1, "waits", 0, false, "u", "", "", "", 1, 1, -4, 1]]})"};
    for (const char* text : texts) {
        INFO(text);
        CHECK_FALSE(read_wishes(Json::parse(text)->get()));
    }
}
