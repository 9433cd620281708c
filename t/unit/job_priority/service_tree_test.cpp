// SPDX-License-Identifier: LGPL-3.0-only
// What an edit of the share tree does to usage that is there.
#include <catch2/catch.hpp>

#include "modules/job-priority/state/memory_store.hpp"
#include "t/unit/job_priority/support.hpp"

using namespace weir;
using namespace weir::priority;
using namespace weir::priority::testing;

namespace {

constexpr const char* open_tree = "\"bio\" = 1\n\"bio/@*\" = 1\n\"chem\" = 1\n";
constexpr const char* tree_with_line = "\"bio\" = 1\n\"bio/@*\" = 1\n\"bio/@bob\" = 3\n\"chem\" = 1\n";

/// Bob used ten core-seconds in bio by then.
std::unique_ptr<PriorityService> service_of(const std::string& text) {
    auto made = service();
    put_tree(*made, text);
    made->begin_backlog();
    made->end_backlog(at(0));
    made->apply(submitted(1, 1, bob));
    made->apply(eligible(1, 1));
    made->apply(started(1, 10, 1));
    made->apply(freed(1, 20));
    made->apply(cleaned(1, 20));
    return made;
}

std::unique_ptr<PriorityService> restarted(PriorityService& s) {
    MemoryStore store;
    store.apply(s.take_batch());
    auto again = service();
    REQUIRE(again->restore(store.saved(), at(90)).has_value());
    again->begin_backlog();
    again->end_backlog(at(90));
    return again;
}

}  // namespace

TEST_CASE("edits: who loses his own line keeps his usage where @* admits him, also over a restart") {
    auto s = service_of(tree_with_line);
    put_tree(*s, open_tree, 30);
    CHECK(charged(*s, "bio/@bob", 40) == 10'000'000);
    CHECK(charged(*s, "bio", 40) == 10'000'000);
    CHECK(charged(*s, "", 40) == 0);
    const auto bobs = s->accounting().tree().find("bio/@bob");
    REQUIRE(bobs);
    CHECK(s->accounting().tree().shares(*bobs) == 1);
    auto again = restarted(*s);
    CHECK(charged(*again, "bio/@bob", 99) == 10'000'000);
    put_tree(*again, tree_with_line, 100);
    CHECK(charged(*again, "bio/@bob", 100) == 10'000'000);
}

TEST_CASE("edits: a job that runs while its user loses his line is charged to him to its end") {
    auto s = service_of(tree_with_line);
    s->apply(submitted(2, 21, bob));
    s->apply(eligible(2, 21));
    s->apply(started(2, 22, 2));
    put_tree(*s, open_tree, 30);
    s->apply(freed(2, 42));
    CHECK(charged(*s, "bio/@bob", 99) == 50'000'000);
    CHECK(charged(*s, "", 99) == 0);
}

TEST_CASE("edits: usage that has no line comes back with an @* line, as it does at a restart") {
    auto s = service_of(tree_with_line);
    put_tree(*s, "\"bio\" = 1\n\"chem\" = 1\n", 30);
    CHECK(charged(*s, "", 40) == 10'000'000);
    put_tree(*s, open_tree, 50);
    CHECK(charged(*s, "bio/@bob", 60) == 10'000'000);
    CHECK(charged(*s, "", 60) == 0);
}

TEST_CASE("edits: a user whose line moves takes his usage along, though the former account has an @* line") {
    auto s = service_of(tree_with_line);
    put_tree(*s, "\"bio\" = 1\n\"bio/@*\" = 1\n\"chem\" = 1\n\"chem/@bob\" = 1\n", 30);
    CHECK(charged(*s, "chem/@bob", 40) == 10'000'000);
    CHECK(charged(*s, "bio", 40) == 0);
}

TEST_CASE("edits: members by @* move with their account") {
    auto s = service_of(open_tree);
    put_tree(*s, "\"chem\" = 1\n\"chem/bio\" = 1\n\"chem/bio/@*\" = 1\n", 30);
    CHECK(charged(*s, "chem/bio/@bob", 40) == 10'000'000);
    CHECK(charged(*s, "", 40) == 0);
}

TEST_CASE("edits: who used nothing gets no leaf when he loses his line") {
    auto s = service_of(tree_with_line);
    put_tree(*s, "\"bio\" = 1\n\"bio/@*\" = 1\n\"bio/@alice\" = 1\n\"chem\" = 1\n", 30);
    put_tree(*s, open_tree, 31);
    CHECK_FALSE(s->accounting().tree().find("bio/@alice"));
    CHECK(s->accounting().tree().find("bio/@bob"));
}
