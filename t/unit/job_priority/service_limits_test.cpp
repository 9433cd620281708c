// SPDX-License-Identifier: LGPL-3.0-only
// Limits of the share tree in the service: who is pushed as 0, when that ends, who is refused.
#include <catch2/catch.hpp>

#include "libfairshare/usage/counted_usage.hpp"
#include "libfairshare/usage/reset.hpp"
#include "modules/job-priority/messages/views.hpp"
#include "t/unit/job_priority/support.hpp"

using namespace weir::priority;
using namespace weir::priority::testing;

namespace {

const char* limited_text =
    "\"physics\" = {shares = 2, running_jobs_max = 1}\n"
    "\"physics/@alice\" = {shares = 1, wall_time_max = \"1h\"}\n"
    "\"physics/@bob\" = {shares = 1, active_jobs_max = 2}\n"
    "\"bio\" = 1\n"
    "\"bio/@carol\" = 1\n";

std::unique_ptr<PriorityService> limited() {
    auto made = service();
    put_tree(*made, limited_text);
    made->begin_backlog();
    made->end_backlog(at(0));
    return made;
}

void arrive(PriorityService& s, FluxJobId id, double t, std::uint32_t userid,
            weir::Duration wall = std::chrono::minutes(5)) {
    JobEvent event = submitted(id, t, userid);
    std::get<SubmitEvent>(event.what).request.wall_time = wall;
    s.apply(event);
    s.apply(eligible(id, t));
}

void arrive_in(PriorityService& s, FluxJobId id, double t, std::uint32_t userid, const char* queue) {
    JobEvent event = submitted(id, t, userid);
    std::get<SubmitEvent>(event.what).request.wall_time = std::chrono::minutes(5);
    std::get<SubmitEvent>(event.what).request.queue = queue;
    s.apply(event);
    s.apply(eligible(id, t));
}

std::map<std::uint64_t, std::uint32_t> pushes(PriorityService& s) {
    std::map<std::uint64_t, std::uint32_t> values;
    for (const auto& [id, value] : push(s)) {
        values[id] = value;
    }
    return values;
}

}  // namespace

TEST_CASE("service: a job over a limit is pushed as 0 until another of its account ends") {
    auto s = limited();
    arrive(*s, 1, 1, alice);
    arrive(*s, 2, 2, bob);
    arrive(*s, 3, 3, carol);
    s->pass(at(4), Pass::marked);
    auto values = pushes(*s);
    CHECK(values.at(1) > 0);
    CHECK(values.at(2) == 0);
    CHECK(values.at(3) > 0);
    CHECK(held_back_by(*s, 2) == "physics runs at most 1 job; 0 run, and 1 starts before it");
    CHECK(held_back_by(*s, 1).empty());
    s->apply(started(1, 5, 1));
    s->pass(at(5), Pass::marked);
    CHECK(pushes(*s).count(2) == 0);
    s->apply(freed(1, 6));
    REQUIRE(s->has_marked());
    s->pass(at(6), Pass::marked);
    CHECK(pushes(*s).at(2) > 0);
}

// The scheduler's answer may be under way when the user holds the job.
// Mutant: modules/job-priority/gate/gate.cpp: if (!job->is_pending()) { => if (!job->is_pending() || job->is_held()) {
TEST_CASE("service: a job that is held gives its place back, once it is known not to have started") {
    auto s = limited();
    arrive(*s, 1, 1, alice);
    s->pass(at(1), Pass::marked);
    push(*s);
    arrive(*s, 2, 2, bob);
    s->apply(urgency(1, 3, 0));
    s->pass(at(3), Pass::marked);
    CHECK(held_back_by(*s, 2) == "physics runs at most 1 job; 0 run, and 1 starts before it");
    SECTION("it has started") {
        s->apply(started(1, 3, 1));
        s->pass(at(4), Pass::marked);
        push(*s);
        s->pass(at(5), Pass::marked);
        CHECK_FALSE(held_back_by(*s, 2).empty());
    }
    SECTION("the job-manager has withdrawn it") {
        CHECK(pushes(*s).at(1) == 0);
        s->pass(at(3), Pass::marked);
        CHECK(pushes(*s).at(2) > 0);
        s->apply(urgency(1, 4, 16));
        s->pass(at(4), Pass::marked);
        CHECK(pushes(*s).count(1) == 0);  // 0 as before
        CHECK(held_back_by(*s, 1) == "physics runs at most 1 job; 0 run, and 1 starts before it");
    }
    SECTION("it is released before that") {
        s->apply(urgency(1, 4, 16));
        s->pass(at(4), Pass::marked);
        CHECK(pushes(*s).at(2) == 0);
        CHECK(held_back_by(*s, 1).empty());
    }
}

TEST_CASE("service: a held job has the value 0, so that nothing starts it between its release and its admission") {
    auto s = limited();
    arrive(*s, 1, 1, alice);
    s->pass(at(1), Pass::marked);
    push(*s);
    s->apply(urgency(1, 2, 0));
    arrive(*s, 2, 2, bob);
    s->pass(at(3), Pass::marked);
    CHECK(pushes(*s).at(1) == 0);
    s->pass(at(3), Pass::marked);
    push(*s);
    s->apply(freed(2, 4));
    s->apply(urgency(1, 5, 16));
    s->pass(at(5), Pass::marked);
    CHECK(held_back_by(*s, 1) == "physics runs at most 1 job; 0 run, and 1 starts before it");
}

namespace {

/// Alice's job of the queue batch has a place, bob's of another queue waits for it.
std::unique_ptr<PriorityService> limited_with_queues() {
    auto made = limited();
    arrive_in(*made, 1, 1, alice, "batch");
    made->pass(at(1), Pass::marked);
    push(*made);
    arrive_in(*made, 2, 2, bob, "debug");
    made->pass(at(2), Pass::marked);
    push(*made);
    return made;
}

}  // namespace

// Mutant: libfairshare/limits/admission.cpp: job.is_paused ? State::parked : State::waiting => State::waiting
TEST_CASE("service: a job of a stopped queue gives its place back, once it is known not to have started") {
    auto s = limited_with_queues();
    s->set_stopped_queues({"batch"});
    REQUIRE(s->has_marked());
    s->pass(at(3), Pass::marked);
    CHECK(held_back_by(*s, 1).empty());  // the queue holds it back
    CHECK(held_back_by(*s, 2) == "physics runs at most 1 job; 0 run, and 1 starts before it");
    SECTION("the job-manager has withdrawn it") {
        CHECK(pushes(*s).at(1) == 0);
        s->pass(at(4), Pass::marked);
        CHECK(pushes(*s).at(2) > 0);
        SECTION("it waits for its turn when the queue starts again") {
            s->set_stopped_queues({});
            s->pass(at(5), Pass::marked);
            CHECK(held_back_by(*s, 1) == "physics runs at most 1 job; 0 run, and 1 starts before it");
            s->apply(started(2, 6, 1));
            s->apply(freed(2, 7));
            s->pass(at(7), Pass::marked);
            CHECK(pushes(*s).at(1) > 0);
        }
        SECTION("a new one of the queue takes no place either") {
            s->apply(started(2, 5, 1));
            s->apply(freed(2, 5));
            arrive_in(*s, 3, 5, bob, "batch");
            arrive_in(*s, 4, 6, bob, "debug");
            s->pass(at(6), Pass::marked);
            const auto values = pushes(*s);
            CHECK(values.at(3) == 0);
            CHECK(values.at(4) > 0);
        }
    }
    SECTION("it has started") {
        s->apply(started(1, 3, 1));
        s->pass(at(4), Pass::marked);
        push(*s);
        s->pass(at(5), Pass::marked);
        CHECK_FALSE(held_back_by(*s, 2).empty());
        s->apply(freed(1, 6));
        s->pass(at(6), Pass::marked);
        CHECK(pushes(*s).at(2) > 0);
    }
    SECTION("the queue starts again before that") {
        s->set_stopped_queues({});
        s->pass(at(4), Pass::marked);
        CHECK(pushes(*s).count(2) == 0);
        CHECK(held_back_by(*s, 1).empty());
    }
}

// Mutant: libfairshare/limits/admission.cpp: State::parked && known->second.is_paused => State::running
TEST_CASE("service: a job of a queue that was stopped while the module was away may have started") {
    auto s = service();
    put_tree(*s, limited_text);
    s->set_stopped_queues({"batch"});
    s->gate().set_withheld({2});
    s->begin_backlog();
    const auto in = [](FluxJobId id, std::uint32_t userid, const char* queue) {
        JobEvent event = submitted(id, 1, userid);
        std::get<SubmitEvent>(event.what).request.queue = queue;
        return event;
    };
    s->add_backlog({in(1, alice, "batch"), eligible(1, 1)});
    s->add_backlog({in(2, bob, "debug"), eligible(2, 1)});
    s->end_backlog(at(2));
    s->pass(at(2));
    CHECK(pushes(*s).at(2) == 0);
    s->pass(at(3), Pass::marked);
    CHECK(pushes(*s).at(2) > 0);
    put_tree(*s, std::string(limited_text) + "\"history\" = 1\n", 4);
    s->pass(at(4));
    CHECK(pushes(*s).count(1) == 0);
}

TEST_CASE("service: a time limit that is raised above the tree's is refused while the job waits, not once it runs") {
    auto s = limited();
    arrive(*s, 1, 1, alice);
    const auto to = [](std::chrono::minutes duration) {
        UpdateEvent event;
        event.wall_time = duration;
        return event;
    };
    s->apply({1, at(2), to(std::chrono::minutes(60))});
    CHECK(s->gate().take_refusals().empty());
    s->apply({1, at(3), to(std::chrono::minutes(61))});
    const auto refused = s->gate().take_refusals();
    REQUIRE(refused.size() == 1);
    CHECK(refused[0].second == "refused by a limit of the share tree: a job of physics/@alice runs at most 1h");
    s->apply({1, at(4), to(std::chrono::minutes(5))});
    s->apply(started(1, 5, 1));
    s->apply({1, at(6), to(std::chrono::minutes(61))});  // the instance's owner alone may do that
    CHECK(s->gate().take_refusals().empty());
}

TEST_CASE("service: what no waiting helps is refused once, with the limit; a backlog refuses nobody") {
    auto s = limited();
    arrive(*s, 1, 1, alice, std::chrono::hours(2));
    auto refused = s->gate().take_refusals();
    REQUIRE(refused.size() == 1);
    CHECK(refused[0].first == 1);
    CHECK(refused[0].second == "refused by a limit of the share tree: a job of physics/@alice runs at most 1h");
    arrive(*s, 9, 1, alice, weir::Duration::max());
    CHECK(s->gate().take_refusals().at(0).second ==
          "refused by a limit of the share tree: a job of physics/@alice runs at most 1h: it names no time limit (-t)");
    for (FluxJobId id = 2; id <= 4; ++id) {
        arrive(*s, id, static_cast<double>(id), bob);
    }
    refused = s->gate().take_refusals();
    REQUIRE(refused.size() == 1);
    CHECK(refused[0].first == 4);
    s->begin_backlog();
    s->add_backlog({submitted(9, 1, bob), submitted(9, 1, bob)});
    s->end_backlog(at(10));
    CHECK(s->gate().take_refusals().empty());
}

// Mutant: modules/job-priority/jobs/job_book.cpp: job.payer_basis = 0; =>
TEST_CASE("service: another account is refused where it has too many jobs, and those above both count the job once") {
    auto s = service();
    put_tree(*s,
             "\"site\" = {shares = 1, active_jobs_max = 2}\n\"site/a\" = 1\n\"site/a/@alice\" = 1\n"
             "\"site/b\" = {shares = 1, active_jobs_max = 1}\n\"site/b/@alice\" = 1\n");
    s->begin_backlog();
    s->end_backlog(at(0));
    const auto arrive_in = [&](FluxJobId id, const char* account) {
        JobEvent event = submitted(id, 1, alice);
        std::get<SubmitEvent>(event.what).request.account = account;
        s->apply(event);
        s->apply(eligible(id, 1));
    };
    const auto move_to = [&](FluxJobId id, const char* account) {
        UpdateEvent event;
        event.account = account;
        s->apply({id, at(2), event});
        return s->gate().take_refusals();
    };
    arrive_in(1, "b");
    arrive_in(2, "a");
    CHECK(move_to(2, "a").empty());
    CHECK(move_to(1, "b").empty());
    const auto refused = move_to(2, "b");
    REQUIRE(refused.size() == 1);
    CHECK(refused[0].first == 2);
    CHECK(refused[0].second ==
          "refused by a limit of the share tree: site/b has at most 1 job that wait or run; 1 does");
    CHECK(move_to(2, "a").empty());
    CHECK(move_to(1, "a").empty());
    CHECK(move_to(2, "b").empty());
}

TEST_CASE("service: another tree lifts a limit or brings one") {
    auto s = limited();
    arrive(*s, 1, 1, alice);
    arrive(*s, 2, 2, bob);
    s->pass(at(3));
    CHECK(pushes(*s).at(2) == 0);
    put_tree(*s, "\"physics\" = 1\n\"physics/@alice\" = 1\n\"physics/@bob\" = 1\n", 4);
    s->pass(at(4));
    CHECK(pushes(*s).at(2) > 0);
    put_tree(*s, "\"physics\" = 1\n\"physics/@alice\" = {shares = 1, cores_max = 0}\n\"physics/@bob\" = 1\n", 5);
    s->pass(at(5));
    CHECK(pushes(*s).at(1) == 0);
    CHECK(held_back_by(*s, 1) == "physics/@alice uses at most 0 cores; the job asks for more");
}

TEST_CASE("service: who may be starting keeps the place when the module is loaded again, whoever else is first now") {
    const auto lives_on = [](std::optional<std::set<FluxJobId>> withheld) {
        auto s = service();
        put_tree(*s, limited_text);
        if (withheld) {
            s->gate().set_withheld(*withheld);
        }
        s->begin_backlog();
        s->add_backlog({submitted(1, 1, bob), eligible(1, 1)});
        s->add_backlog({submitted(2, 2, bob), eligible(2, 2), urgency(2, 3, 20)});
        s->end_backlog(at(5));
        s->pass(at(5));
        return pushes(*s);
    };
    const auto anew = lives_on({});
    CHECK(anew.at(1) == 0);
    CHECK(anew.at(2) > 0);  // the first in order: nobody was offered to the scheduler
    const auto kept = lives_on(std::set<FluxJobId>{2});
    CHECK(kept.at(1) > 0);
    CHECK(kept.at(2) == 0);
}

TEST_CASE("service: another tree leaves places to who has them as far as its limits go") {
    auto s = limited();
    arrive(*s, 1, 1, bob);
    s->pass(at(1), Pass::marked);
    arrive(*s, 2, 2, bob);
    s->apply(urgency(2, 3, 20));
    s->pass(at(3), Pass::marked);
    CHECK(pushes(*s).at(2) == 0);
    put_tree(*s, std::string(limited_text) + "\"chemistry\" = 1\n");
    SECTION("one after the other, before it is computed who has room") {
        put_tree(*s, std::string(limited_text) + "\"history\" = 1\n");
    }
    s->pass(at(4));
    CHECK(held_back_by(*s, 1).empty());
    CHECK(!held_back_by(*s, 2).empty());
}

namespace {

/// Hard limits of one node for alice and 3 cores for bob; 15 nodes, the largest of 4 cores.
std::unique_ptr<PriorityService> limited_by_size() {
    auto made = service();
    put_tree(*made,
             "\"physics\" = 1\n\"physics/@alice\" = {shares = 1, nodes_max = 1}\n"
             "\"bio\" = 1\n\"bio/@bob\" = {shares = 1, cores_max = 3}\n");
    made->set_machine({60, 15, 0., 0., 4});
    made->begin_backlog();
    made->end_backlog(at(0));
    return made;
}

std::vector<std::pair<FluxJobId, std::string>> refusals_of(PriorityService& s, const JobRequest& request,
                                                           std::uint32_t userid) {
    s.apply({1, at(1), SubmitEvent{userid, 16, request}});
    return s.gate().take_refusals();
}

}  // namespace

// Mutant: modules/job-priority/gate/gate.cpp: std::max(request.nodes, spread) => request.nodes
TEST_CASE("service: a job that names no nodes counts the nodes over which it may be spread") {
    JobRequest request;
    request.cores = 12;
    request.spread = 12;
    const auto refused = refusals_of(*limited_by_size(), request, alice);
    REQUIRE(refused.size() == 1);
    CHECK(
        refused[0].second ==
        "refused by a limit of the share tree: physics/@alice uses at most 1 node; the job asks for more: it names no "
        "nodes (-N), and may be spread over 12");
    request.spread = 1;
    CHECK(refusals_of(*limited_by_size(), request, alice).empty());
    request.spread = 0;  // it names one
    CHECK(refusals_of(*limited_by_size(), request, alice).empty());
}

// Mutant: modules/job-priority/gate/gate.cpp: std::max(request.cores, whole) => request.cores
TEST_CASE("service: nodes that a job requests whole count with all their cores") {
    JobRequest request;
    request.cores = 2;
    request.nodes = 2;
    CHECK(refusals_of(*limited_by_size(), request, bob).empty());
    request.whole_nodes = 2;
    CHECK(refusals_of(*limited_by_size(), request, bob).size() == 1);
}

// Mutant: modules/job-priority/gate/gate.cpp: if (machine_ == machine) => if (true)
TEST_CASE("service: a pending job is counted again when the machine's size becomes known, or changes") {
    auto s = limited_by_size();
    JobRequest request;
    request.cores = 2;
    request.whole_nodes = 1;
    s->set_machine({60, 15, 0., 0., 2});
    s->apply({1, at(1), SubmitEvent{bob, 16, request}});
    s->apply(eligible(1, 1));
    s->pass(at(2));
    CHECK(held_back_by(*s, 1).empty());
    s->set_machine({60, 15, 0., 0., 4});
    s->pass(at(3));
    CHECK(held_back_by(*s, 1) == "bio/@bob uses at most 3 cores; the job asks for more");
    CHECK(s->gate().take_refusals().empty());
}

namespace {

/// A partition: alice may use 60 % of all, and alone has used cores here.
std::unique_ptr<PriorityService> partition_of(bool is_child, Settings with) {
    auto made = service(is_child, std::move(with));
    put_tree(*made,
             "\"bio\" = {shares = 1, running_jobs_max = [1, 3]}\n\"bio/@alice\" = {shares = 1, usage_max = \"60%\"}\n"
             "\"bio/@bob\" = 1\n");
    made->set_parent(PlaceAsks::Parent::absent);  // it counts copies alone
    made->begin_backlog();
    made->end_backlog(at(0));
    arrive(*made, 1, 1, alice);
    made->apply(started(1, 1, 1));
    made->apply(freed(1, 2));
    return made;
}

/// A copy of the parent's job `id`, of alice.
void arrive_copy_of_hers(PriorityService& s, FluxJobId id, double t) {
    JobEvent event = submitted(id, t, owner);
    std::get<SubmitEvent>(event.what).copy_of = id;
    std::get<SubmitEvent>(event.what).request.routed_for = alice;
    s.apply(event);
    s.apply(eligible(id, t));
}

}  // namespace

// Mutant: modules/job-priority/gate/gate.cpp: is_admitted_above(job) || asks_ => asks_
TEST_CASE("service: a limit of usage does not hold a copy in a partition, whose parent knows all usage") {
    auto s = partition_of(true, settings());
    arrive_copy_of_hers(*s, 2, 3);
    arrive_copy_of_hers(*s, 3, 3);
    arrive(*s, 4, 3, alice);
    s->pass(at(4));
    arrive(*s, 5, 4, bob);
    s->pass(at(4));
    CHECK(held_back_by(*s, 2).empty());
    CHECK(held_back_by(*s, 3).empty());  // beyond the soft limit
    CHECK(held_back_by(*s, 4) ==
          "bio/@alice has used its 60% of all usage; jobs start again when others have used more");
    CHECK(held_back_by(*s, 5) == "bio runs at most 1 job, while others wait; 0 run, and 2 start before it");
    put_tree(*s, "\"bio\" = 1\n\"bio/@alice\" = {shares = 1, usage_max = \"0%\", cores_max = 1}\n\"bio/@bob\" = 1\n",
             5);
    s->pass(at(5));
    CHECK(held_back_by(*s, 2).empty());
    CHECK(held_back_by(*s, 3) ==
          "bio/@alice uses at most 1 core; 0 are in use, and 1 is for jobs that start before it");
}

// Mutant: modules/job-priority/gate/gate.cpp: {settings_.decay != DecayKind::none, settings_.usage_reset} => {}
TEST_CASE("service: the words of a limit of usage are those of this site's decay and reset") {
    Settings with = settings();
    with.decay = weir::DecayKind::none;
    with.usage_reset = weir::ResetPeriod::daily;
    auto s = partition_of(false, with);
    put_tree(*s, "\"bio\" = 1\n\"bio/@alice\" = {shares = 1, usage_max = \"1s\"}\n\"bio/@bob\" = 1\n", 3);
    arrive(*s, 4, 3, alice);
    s->pass(at(4));
    CHECK(held_back_by(*s, 4) == "bio/@alice has used its 1s; jobs start again when usage is reset daily at midnight");
}

TEST_CASE("service: limits hold what says that it is a copy where no parent decides") {
    const bool is_child = GENERATE(true, false);
    Settings with = settings();
    with.takes_parent_factors = !is_child;
    auto s = partition_of(is_child, with);
    arrive_copy_of_hers(*s, 2, 3);
    s->pass(at(4));
    CHECK(held_back_by(*s, 2) ==
          "bio/@alice has used its 60% of all usage; jobs start again when others have used more");
    s->take_given_priorities({{2, 77}}, false);
    with.takes_parent_factors = true;
    s->configure(with, at(5));
    s->pass(at(5));
    CHECK(held_back_by(*s, 2).empty() == is_child);
}
