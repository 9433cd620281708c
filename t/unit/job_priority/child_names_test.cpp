// SPDX-License-Identifier: LGPL-3.0-only
// The names that a middle instance gives its children's jobs in its records for its own parent.
#include <catch2/catch.hpp>

#include "modules/job-priority/state/memory_store.hpp"
#include "modules/job-priority/state/older_names.hpp"
#include "t/unit/job_priority/support.hpp"

using namespace weir;
using namespace weir::priority;
using namespace weir::priority::testing;

namespace {

constexpr FluxJobId guests_child = 50;
constexpr FluxJobId other_job = 51;
constexpr FluxJobId middle_job = 7;  // the job of the upper instance in which the middle one runs

void run_job(PriorityService& s, FluxJobId id, std::uint32_t who, std::int64_t cores) {
    s.apply(submitted(id, 90, who));
    s.apply(eligible(id, 90));
    s.apply(started(id, 100, cores));
}

/// A middle instance with alice's child on 4 cores and a job of bob's on 6.
std::unique_ptr<PriorityService> middle_instance() {
    auto s = service(true);
    put_tree(*s);
    s->begin_backlog();
    s->end_backlog(at(0));
    s->log().set_names_key({1, 2});
    run_job(*s, guests_child, alice, 4);
    run_job(*s, other_job, bob, 6);
    s->attach_child(guests_child, "one", 1, at(100));
    return s;
}

UplinkRow alices(bool is_start, std::uint64_t job, double t) {
    return {is_start, job, "alice", "physics/lattice", 1, at(t)};
}

/// All records that the instance has for its parent.
std::vector<UplinkRow> told(PriorityService& s) {
    s.sends().uplink().queue().detached();
    s.sends().uplink().queue().attached(0);
    return s.sends().uplink().queue().next()->records;
}

/// The middle instance's own parent, which has read these records.
std::unique_ptr<PriorityService> upper_instance(const std::vector<UplinkRow>& records) {
    auto s = ready_service();
    run_job(*s, middle_job, owner, 10);
    s->attach_child(middle_job, "middle", 1, at(100));
    s->report(middle_job, 1, records, at(900));
    return s;
}

std::uint64_t without_shift(std::uint64_t x, unsigned bits) {
    for (std::uint64_t from = x >> bits; from != 0; from >>= bits) {
        x ^= from;
    }
    return x;
}

/// The number for which older_name_above(child, number) == name: splitmix64 backwards.
std::uint64_t number_named(FluxJobId child, std::uint64_t name) {
    std::uint64_t x = without_shift(name, 31) * 0x319642b2d24d8ec3ULL;
    x = without_shift(x, 27) * 0x96de1b173f119089ULL;
    return without_shift(x, 30) - 0x9e3779b97f4a7c15ULL * child;
}

}  // namespace

TEST_CASE("child names: a guest's child cannot end another job's charge above, nor that of its own job") {
    for (const FluxJobId victim : {other_job, guests_child}) {
        const std::uint64_t number = number_named(guests_child, victim);
        REQUIRE(older_name_above(guests_child, number) == victim);
        auto middle = middle_instance();
        middle->report(guests_child, 1, {alices(true, number, 110), alices(false, number, 111)}, at(120));
        const auto upper = upper_instance(told(*middle));
        CHECK(upper->accounting().reported().count({middle_job, victim}) == 1);
        CHECK(upper->accounting().reported().size() == 2);
    }
}

// It stands for the child's own job, whose end above is not the child's to tell.
TEST_CASE("child names: no report is about the job 0") {
    auto middle = middle_instance();
    const std::vector<UplinkRow> before = told(*middle);
    middle->report(guests_child, 1, {alices(true, 0, 110), alices(false, 0, 111)}, at(120));
    CHECK(told(*middle).size() == before.size());
}

// Mutant: modules/job-priority/charges/child_reports.cpp: names_key, key.first => names_key, 0
TEST_CASE("child names: jobs of one number in two children, and the jobs inside them, are told apart above") {
    auto middle = middle_instance();
    middle->attach_child(other_job, "two", 1, at(100));
    UplinkRow inner = alices(true, 2, 111);
    inner.inside = 1;
    middle->report(guests_child, 1, {alices(true, 1, 110), inner}, at(120));
    UplinkRow bobs{true, 1, "bob", "bio", 2, at(110)};
    middle->report(other_job, 1, {bobs}, at(120));
    const auto upper = upper_instance(told(*middle));
    CHECK(upper->accounting().reported().size() == 5);
    CHECK(charged(*upper, "physics/lattice/@alice", 200) == 400'000'000);
    CHECK(charged(*upper, "bio/@bob", 200) == 600'000'000);
}

TEST_CASE("child names: the end of a job has the name of its start, also after a restart") {
    auto middle = middle_instance();
    middle->report(guests_child, 1, {alices(true, 1, 110)}, at(120));
    MemoryStore store;
    store.apply(middle->take_batch());
    CHECK(store.saved().meta.names_key == HashKey{1, 2});
    middle = service(true);
    REQUIRE(middle->restore(store.saved(), at(130)).has_value());
    middle->begin_backlog();
    middle->add_backlog(
        {submitted(guests_child, 90, alice), eligible(guests_child, 90), started(guests_child, 100, 4)});
    middle->end_backlog(at(130));
    middle->report(guests_child, 2, {alices(false, 1, 140)}, at(150));
    const std::vector<UplinkRow> records = told(*middle);
    CHECK_FALSE(records.back().is_start);
    CHECK(records.back().job == store.saved().reported.at({guests_child, 1}).above);
    CHECK(records.back().inside == guests_child);
}
