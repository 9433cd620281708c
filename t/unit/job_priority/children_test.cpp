// SPDX-License-Identifier: LGPL-3.0-only
#include <catch2/catch.hpp>

#include "t/unit/job_priority/support.hpp"

using namespace weir;
using namespace weir::priority;
using namespace weir::priority::testing;

namespace {

constexpr FluxJobId child = 50;

/// A parent on which bob runs a child instance on 10 cores from t = 100.
std::unique_ptr<PriorityService> parent_with_child() {
    auto s = ready_service();
    s->apply(submitted(child, 90, bob, "bio"));
    s->apply(eligible(child, 90));
    s->apply(started(child, 100, 10));
    s->attach_child(child, "one", 1);
    return s;
}

UplinkRow start(std::uint64_t job, std::int64_t cores, double t) {
    return {true, job, "alice", "physics/lattice", cores, at(t)};
}
UplinkRow end(std::uint64_t job, std::int64_t cores, double t) {
    return {false, job, "alice", "physics/lattice", cores, at(t)};
}

}  // namespace

TEST_CASE("children: reported users pay for their jobs, the child's owner for the rest, nobody twice") {
    auto s = parent_with_child();
    CHECK(s->report(child, 1, {start(1, 4, 110), end(1, 4, 120)}) == 2);
    s->apply(freed(child, 200));
    CHECK(charged(*s, "physics/lattice/@alice", 999) == 40'000'000);
    CHECK(charged(*s, "bio/@bob", 999) == 960'000'000);
}

TEST_CASE("children: a record that comes twice counts once, a gap is not jumped") {
    auto s = parent_with_child();
    s->report(child, 1, {start(1, 4, 110)});
    CHECK(s->report(child, 1, {start(1, 4, 110), end(1, 4, 120)}) == 2);
    CHECK(s->report(child, 7, {start(2, 4, 130)}) == 2);
    CHECK(s->report(child, 1, {start(1, 4, 110), end(1, 4, 120)}) == 2);  // closed, so only its number tells
    CHECK(charged(*s, "physics/lattice/@alice", 999) == 40'000'000);
}

TEST_CASE("children: a job inside a reported job takes its cores, and ends with it") {
    auto s = parent_with_child();
    UplinkRow inner = start(2, 3, 120);
    inner.user = "carol", inner.account = "bio", inner.inside = 1;
    s->report(child, 1, {start(1, 4, 110), inner, end(1, 4, 130), inner});
    s->apply(freed(child, 200));
    CHECK(charged(*s, "bio/@carol", 999) == 30'000'000);
    CHECK(charged(*s, "physics/lattice/@alice", 999) == 50'000'000);
    CHECK(charged(*s, "bio/@bob", 999) == 920'000'000);
}

TEST_CASE("children: what is open when the child ends, ends with it") {
    auto s = parent_with_child();
    s->report(child, 1, {start(1, 4, 110)});
    s->apply(freed(child, 150));
    CHECK(charged(*s, "physics/lattice/@alice", 999) == 160'000'000);
    CHECK(charged(*s, "bio/@bob", 999) == 340'000'000);
    CHECK(s->accounting().ledger().rate(root_node) == 0);
    CHECK(s->children().empty());
}

TEST_CASE("children: a child cannot charge more cores than its job has") {
    auto s = parent_with_child();
    s->report(child, 1, {start(1, 8, 110), start(2, 8, 110)});
    CHECK(s->accounting().ledger().rate(root_node) == 10);
    s->apply(freed(child, 120));
    CHECK(charged(*s, "physics/lattice/@alice", 999) == 100'000'000);
    CHECK(charged(*s, "bio/@bob", 999) == 100'000'000);
}

TEST_CASE("children: a child that lost its state tells again, and is not believed twice") {
    auto s = parent_with_child();
    s->report(child, 1, {start(1, 4, 110), end(1, 4, 120), start(2, 4, 130)});
    CHECK(s->attach_child(child, "two", 1) == 0);
    s->report(child, 1, {start(1, 4, 110), end(1, 4, 120)});
    s->report(child, 3, {start(2, 4, 130), end(2, 4, 140), start(3, 4, 150), end(3, 4, 160)});
    CHECK(charged(*s, "physics/lattice/@alice", 999) == 120'000'000);
}

TEST_CASE("children: a parent that lost its state goes on from what the child still has") {
    auto s = parent_with_child();
    CHECK(s->attach_child(child, "one", 41) == 40);
    CHECK(s->report(child, 41, {start(9, 1, 110)}) == 41);
}

TEST_CASE("children: only the owner of a running job, or of the instance, speaks for it") {
    auto s = parent_with_child();
    CHECK(s->authorize_child(child, bob, false));
    CHECK(s->authorize_child(child, owner, true));
    const Status stranger = s->authorize_child(child, alice, false);
    REQUIRE_FALSE(stranger);
    CHECK(stranger.error().code == std::errc::operation_not_permitted);
    s->apply(freed(child, 150));
    CHECK_FALSE(s->authorize_child(child, bob, false));
    CHECK_FALSE(s->authorize_child(77, bob, false));
}

TEST_CASE("children: factors go down whole at first, then as they change") {
    auto s = parent_with_child();
    s->pass(at(110));
    bool is_complete = false;
    CHECK(s->changed_factor_rows(is_complete).size() == 3);  // alice, bob, bio/@*
    CHECK(is_complete);
    s->pass(at(110));
    CHECK(s->changed_factor_rows(is_complete).empty());
    CHECK_FALSE(is_complete);
    put_tree(*s, "\"physics\" = 1\n\"physics/@alice\" = 1\n", 120);
    s->pass(at(121));
    CHECK(s->changed_factor_rows(is_complete).size() == 1);
    CHECK(is_complete);
}

TEST_CASE("children: a child ranks its jobs by its parent's factors") {
    auto s = service(true);
    s->begin_backlog();
    s->end_backlog(at(0));
    s->apply(submitted(1, 1, alice, "lattice"));
    s->apply(eligible(1, 1));
    s->apply(submitted(2, 1, bob));
    s->apply(eligible(2, 1));
    s->take_parent_factors({{alice, "alice", "physics/lattice", 0.25, true}, {bob, "bob", "bio", 1.0, true}}, true);
    s->pass(at(2));
    std::map<std::uint64_t, std::uint32_t> pushed;
    for (const auto& [id, value] : push(*s)) {
        pushed[id] = value;
    }
    CHECK(pushed.at(2) - pushed.at(1) == 7500);
    s->take_parent_factors({{alice, "alice", "physics/lattice", 1.0, true}}, false);
    s->pass(at(2));
    CHECK(push(*s).size() == 1);
}

TEST_CASE("children: a child records its jobs' starts and ends in order") {
    auto s = service(true);
    s->begin_backlog();
    s->end_backlog(at(0));
    s->apply(submitted(1, 1, alice, "lattice"));
    s->apply(eligible(1, 1));
    s->apply(started(1, 2, 3));
    s->apply(freed(1, 4));
    s->uplink().attached(0);
    const auto batch = s->uplink().next();
    REQUIRE(batch);
    REQUIRE(batch->records.size() == 2);
    CHECK(batch->records[0].user == "alice");
    CHECK(batch->records[0].account == "lattice");
    CHECK(batch->records[1].cores == 3);
    CHECK_FALSE(batch->records[1].is_start);
}
