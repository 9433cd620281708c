// SPDX-License-Identifier: LGPL-3.0-only
// Limits of the tree: what is counted, what holds a job back, who is admitted.
#include <catch2/catch.hpp>
#include <numeric>
#include <set>

#include "t/unit/libfairshare/limits_world.hpp"

using namespace weir;
using testing::Ids;
using testing::second;
using testing::sized;
using World = testing::LimitsWorld;

// Mutant: libfairshare/limits/admission.cpp: count_in(reserved_); => (void)0;
TEST_CASE("limits: running jobs are admitted by priority up to the limit, and the next when one ends") {
    World w("\"a\" = {shares = 1, running_jobs_max = 2}\n\"a/@u\" = 1\n\"a/@v\" = 1\n");
    for (std::uint64_t id = 1; id <= 4; id++) {
        w.wait(id, id % 2 == 0 ? "a/@u" : "a/@v");
        w.priorities[id] = id;
    }
    CHECK(w.admit() == Ids{4, 3});
    CHECK(w.gate.is_held_back(1));
    CHECK(w.why(2) == "a runs at most 2 jobs; 0 run, and 2 start before it");
    w.gate.start(*w.tree, 4, w.at("a/@u"), {});
    CHECK(w.admit().empty());
    CHECK(w.why(2) == "a runs at most 2 jobs; 1 runs, and 1 starts before it");
    w.gate.remove(*w.tree, 4);
    CHECK(w.admit() == Ids{2});
    CHECK_FALSE(w.gate.is_held_back(2));
}

TEST_CASE("limits: nodes and cores are counted as asked, then as got; a smaller job may pass a larger one") {
    World w("\"a\" = {shares = 1, nodes_max = 4, cores_max = 100}\n\"a/@u\" = 1\n");
    w.wait(1, "a/@u", sized(3, 10));
    w.wait(2, "a/@u", sized(2, 10));
    w.wait(3, "a/@u", sized(1, 91));
    w.wait(4, "a/@u", sized(1, 90));
    CHECK(w.admit() == Ids{1, 4});
    CHECK(w.why(2) == "a uses at most 4 nodes; 0 are in use, and 4 are for jobs that start before it");
    w.gate.start(*w.tree, 1, w.at("a/@u"), sized(1, 10));
    CHECK(w.admit().empty());
    CHECK(w.why(2) == "a uses at most 100 cores; 10 are in use, and 90 are for jobs that start before it");
    CHECK(w.gate.counts().of(w.at("a")) == LimitCounts::Use{4, 2, 2, 100});
}

TEST_CASE("limits: what can never be is told at submission") {
    World w(
        "\"a\" = {shares = 1, wall_time_max = [\"1h\", \"2h\"], nodes_max = 4, active_jobs_max = 1}\n\"a/@u\" = 1\n");
    const auto never = [&](const LimitedJob& job) {
        const auto hit = LimitCounts::never(*w.tree, w.at("a/@u"), job);
        return hit ? words_of(*hit, *w.tree, {}) : "";
    };
    CHECK(never({1, 1, std::chrono::hours(2)}).empty());
    CHECK(never({1, 1, std::chrono::hours(2) + std::chrono::seconds(1)}) == "a job of a runs at most 2h");
    CHECK(never({1, 1, Duration::max()}) == "a job of a runs at most 2h");
    CHECK(never({5, 1, std::chrono::hours(1)}) == "a uses at most 4 nodes; the job asks for more");
    CHECK_FALSE(w.gate.counts().submission(*w.tree, w.at("a/@u")));
    w.gate.park(*w.tree, 1, w.at("a/@u"), {});
    CHECK(words_of(*w.gate.counts().submission(*w.tree, w.at("a/@u")), *w.tree, {}) ==
          "a has at most 1 job that wait or run; 1 does");
}

TEST_CASE("limits: a soft limit holds while others wait, a hard one always") {
    World w("\"a\" = {shares = 1, running_jobs_max = [1, 2]}\n\"a/@u\" = 1\n\"b\" = 1\n\"b/@v\" = 1\n");
    w.wait(1, "a/@u");
    w.wait(2, "a/@u");
    w.wait(3, "a/@u");
    w.wait(9, "b/@v");
    CHECK(w.admit() == Ids{1, 9});
    CHECK(w.why(2) == "a runs at most 1 job, while others wait; 0 run, and 1 starts before it");
    w.gate.start(*w.tree, 1, w.at("a/@u"), {});
    CHECK(w.admit().empty());
    w.gate.start(*w.tree, 9, w.at("b/@v"), {});
    CHECK(w.admit() == Ids{2});
    CHECK(w.why(3) == "a runs at most 2 jobs; 1 runs, and 1 starts before it");
}

TEST_CASE("limits: usage that decays admits jobs again, charges do not") {
    World w(
        "\"a\" = {shares = 1, usage_max = \"100h\"}\n\"a/@u\" = 1\n\"b\" = {shares = 1, charged_max = \"100h\"}\n"
        "\"b/@v\" = 1\n");
    for (const char* who : {"a/@u", "b/@v"}) {
        w.ledger.start(w.at(who), 100, second(0));
    }
    w.wait(1, "a/@u");
    w.wait(2, "b/@v");
    CHECK(w.admit(1800) == Ids{1, 2});
    for (const char* who : {"a/@u", "b/@v"}) {
        w.ledger.end(w.at(who), 100, second(3600));
    }
    World late = w;
    late.gate.clear();
    late.wait(1, "a/@u");
    late.wait(2, "b/@v");
    CHECK(late.admit(3600) == Ids{1});  // some of it has decayed already
    CHECK(late.why(2) == "b has used up its 100h");
    CHECK(late.admit(1e9).empty());
}

TEST_CASE("limits: parts are of all that was used; a limit of 0 admits nobody") {
    World w(
        "\"a\" = {shares = 1, usage_max = \"25%\"}\n\"a/@u\" = 1\n\"b\" = 1\n\"b/@v\" = 1\n"
        "\"c\" = {shares = 1, cores_max = 0}\n\"c/@w\" = 1\n\"d\" = {shares = 1, usage_max = \"0%\"}\n\"d/@x\" = 1\n");
    w.wait(1, "a/@u");
    w.wait(2, "c/@w");
    w.wait(3, "d/@x");
    CHECK(w.admit() == Ids{1});
    CHECK(w.why(3) == "d has used its 0% of all usage");
    w.ledger.start(w.at("a/@u"), 1, second(0));
    w.ledger.start(w.at("b/@v"), 3, second(0));
    w.wait(4, "a/@u");
    CHECK(w.admit(100).empty());
    CHECK(w.why(4) == "a has used its 25% of all usage; jobs start again when others have used more");
    w.ledger.start(w.at("b/@v"), 1, second(100));
    CHECK(w.admit(200) == Ids{4});
}

TEST_CASE("limits: who was admitted above is held back by hard counts alone, and counts for the others") {
    World w(
        "\"a\" = {shares = 1, running_jobs_max = [1, 2]}\n\"a/@u\" = {shares = 1, usage_max = \"60%\", wall_time_max = "
        "\"1h\"}\n\"b\" = 1\n\"b/@v\" = 1\n");
    w.ledger.start(w.at("a/@u"), 4, second(0));
    w.wait(1, "a/@u", {1, 1, std::chrono::minutes(1)});
    for (std::uint64_t id = 2; id <= 4; id++) {
        w.wait(id, "a/@u", {1, 1, Duration::max(), true});
    }
    w.wait(5, "b/@v");
    CHECK(w.admit(10) == Ids{2, 3, 5});
    CHECK(w.why(4) == "a runs at most 2 jobs; 0 run, and 2 start before it");
    w.gate.remove(*w.tree, 2);
    CHECK(w.admit(11) == Ids{4});
    CHECK(w.gate.is_held_back(1));
}

TEST_CASE("limits: a held job holds nobody back, who pays for nothing is held back by nothing") {
    World w("\"a\" = {shares = 1, running_jobs_max = 1}\n\"a/@u\" = 1\n");
    w.wait(1, "a/@u");
    CHECK(w.admit() == Ids{1});
    w.gate.park(*w.tree, 1, w.at("a/@u"), {});
    w.wait(2, "a/@u");
    w.gate.wait(*w.tree, 3, unassociated, {});
    CHECK(w.admit() == Ids{2, 3});
    CHECK(has_limits(*w.tree));
    CHECK_FALSE(has_limits(*testing::tree_from("\"a\" = 1\n\"a/@u\" = 1\n")));
}

// Mutant: libfairshare/limits/admission.cpp: job.state = State::recalled; => job.state = State::waiting;
TEST_CASE("limits: an admitted job without room counts until it is known not to have started") {
    World w("\"a\" = {shares = 1, running_jobs_max = 1}\n\"a/@u\" = 1\n\"a/@v\" = 1\n\"b\" = 1\n\"b/@u\" = 1\n");
    w.wait(1, "b/@u");
    CHECK(w.admit() == Ids{1});
    w.gate.start(*w.tree, 2, w.at("a/@u"), {});
    w.wait(1, "a/@u");  // it is moved into the account whose limit is reached
    w.wait(3, "a/@v");
    w.priorities[3] = 9;
    const auto nobody = [](std::uint64_t) { return false; };
    const auto everybody = [](std::uint64_t) { return true; };
    CHECK(w.admit().empty());
    CHECK(w.gate.is_held_back(1));
    CHECK(w.why(1) == "a runs at most 1 job; 1 runs");
    CHECK_FALSE(w.gate.can_settle(nobody));
    CHECK(w.gate.can_settle(everybody));
    w.gate.remove(*w.tree, 2);
    SECTION("it has started") {
        w.gate.settle(*w.tree, nobody);
        CHECK(w.admit().empty());
        w.gate.start(*w.tree, 1, w.at("a/@u"), {});
        w.gate.settle(*w.tree, everybody);
        CHECK(w.admit().empty());
        w.gate.remove(*w.tree, 1);
        CHECK(w.admit() == Ids{3});
    }
    SECTION("it has not") {
        w.gate.settle(*w.tree, everybody);
        CHECK_FALSE(w.gate.can_settle(everybody));
        CHECK(w.admit() == Ids{3});
        CHECK(w.gate.is_held_back(1));
    }
    SECTION("it is held by its user, or ends") {
        w.gate.park(*w.tree, 1, w.at("a/@u"), {});
        CHECK(w.admit() == Ids{3});
        CHECK_FALSE(w.gate.can_settle(everybody));
    }
    SECTION("it is moved back") {
        w.wait(1, "b/@u");
        CHECK(w.admit() == Ids{1, 3});
        CHECK_FALSE(w.gate.is_held_back(1));
    }
}

// Kills: counts that stop below the root or are not taken back with the size they were added with; a job admitted
// twice; a limit of an account that is ignored for its users; a job held back though every limit has room (the pass
// ends at the first that does not fit); a soft limit above which jobs are admitted while others wait.
TEST_CASE("limits: who keeps a place goes first, past soft limits, within hard ones; and only once") {
    World w("\"a\" = {shares = 1, running_jobs_max = [1, 2]}\n\"a/@u\" = 1\n\"a/@v\" = 1\n\"a/@w\" = 1\n");
    for (std::uint64_t id = 1; id <= 4; id++) {
        w.wait(id, id % 2 == 0 ? "a/@u" : "a/@v");
        w.priorities[id] = id;
    }
    w.gate.keep_admitted(*w.tree, 1);
    w.gate.keep_admitted(*w.tree, 2);
    w.gate.keep_admitted(*w.tree, 3);
    CHECK(w.gate.admitted() == Ids{1, 2, 3});  // before anybody is admitted
    CHECK(w.admit() == Ids{3, 2});             // hard limit 2; 1 lost its place
    CHECK(w.gate.is_held_back(1));
    CHECK(w.gate.admitted() == Ids{1, 2, 3});  // and may have started
    w.gate.remove(*w.tree, 2);
    w.gate.remove(*w.tree, 3);
    CHECK(w.admit() == Ids{4});  // within the hard limit
    CHECK(w.gate.admitted() == Ids{1, 4});
    w.gate.settle(*w.tree, [](std::uint64_t id) { return id == 1; });
    CHECK(w.gate.admitted() == Ids{4});
    w.wait(4, "a/@w");  // another payer: it keeps its place
    w.priorities[1] = 9;
    CHECK(w.gate.is_held_back(4));
    CHECK(w.admit() == Ids{4});
    w.gate.park(*w.tree, 4, w.at("a/@w"), {});  // a held one does not
    w.wait(4, "a/@w");
    CHECK(w.admit() == Ids{1});
}

TEST_CASE("limits: an event looks at the jobs that it concerns, not at all that wait") {
    World w(
        "\"a\" = {shares = 1, running_jobs_max = 1}\n\"a/@u\" = 1\n\"b\" = {shares = 1, usage_max = \"1h\"}\n"
        "\"b/@v\" = 1\n\"c\" = 1\n\"c/@w\" = 1\n");
    w.ledger.start(w.at("b/@v"), 100, second(0));
    w.ledger.end(w.at("b/@v"), 100, second(3600));
    for (std::uint64_t id = 0; id < 2000; id++) {
        w.wait(id, id % 2 == 0 ? "a/@u" : "b/@v");
    }
    CHECK(w.admit(3600) == Ids{0});
    std::uint64_t before = w.gate.looks();
    w.wait(5000, "c/@w");
    CHECK(w.admit(3601) == Ids{5000});
    w.gate.start(*w.tree, 0, w.at("a/@u"), {});
    w.gate.remove(*w.tree, 5000);
    CHECK(w.admit(3602).empty());
    CHECK(w.gate.looks() - before < 10);
    before = w.gate.looks();
    w.gate.remove(*w.tree, 0);
    CHECK(w.admit(3603) == Ids{2});
    CHECK(w.gate.looks() - before < 3100);  // room for one of a thousand, who are compared
}
