// SPDX-License-Identifier: LGPL-3.0-only
// What an edit of the share tree does to jobs that are there: who pays for those that run, against which limits they
// count, and whether those that wait may start.
#include <catch2/catch.hpp>

#include <map>

#include "modules/job-priority/messages/views.hpp"
#include "modules/job-priority/state/memory_store.hpp"
#include "t/unit/job_priority/support.hpp"

using namespace weir::priority;
using namespace weir::priority::testing;

namespace {

constexpr const char* named_chem =
    "\"chem\" = {shares = 1, cores_max = 3}\n\"chem/@bob\" = 1\n\"bio\" = 1\n\"bio/@carol\" = 1\n";
constexpr const char* named_alch =
    "\"alch\" = {shares = 1, cores_max = 3}\n\"alch/@bob\" = 1\n\"bio\" = 1\n\"bio/@carol\" = 1\n";
constexpr const char* chem_without_bob =
    "\"chem\" = {shares = 1, cores_max = 3}\n\"chem/@alice\" = 1\n\"bio\" = 1\n\"bio/@carol\" = 1\n";

std::unique_ptr<PriorityService> edited_service(const char* text) {
    auto made = service();
    put_tree(*made, text);
    made->begin_backlog();
    made->end_backlog(at(0));
    return made;
}

/// named_chem, and a partition of 6 cores in job 50.
std::unique_ptr<PriorityService> chem_with_partition() {
    auto made = edited_service(named_chem);
    JobRequest partition;
    partition.is_instance = true;
    made->apply({50, at(1), SubmitEvent{owner, 16, std::move(partition)}});
    made->apply(eligible(50, 1));
    made->apply(started(50, 2, 6));
    made->attach_child(50, "one", 1, at(2));
    return made;
}

void join_chem(PriorityService& s, FluxJobId id, double t, std::uint32_t userid, const char* account = "chem") {
    JobEvent event = submitted(id, t, userid, account);
    std::get<SubmitEvent>(event.what).request.cores = 3;
    s.apply(event);
    s.apply(eligible(id, t));
}

void run_in_chem(PriorityService& s, FluxJobId id, double t, std::uint32_t userid) {
    join_chem(s, id, t, userid);
    s.apply(started(id, t, 3));
}

/// The values of the next push: 0 holds a job back.
std::map<std::uint64_t, std::uint32_t> values_after(PriorityService& s, double t) {
    s.pass(at(t), Pass::full);
    const auto values = push(s);
    return {values.begin(), values.end()};
}

std::string memo_of(const PriorityService& s, FluxJobId id) {
    return why_held(s, id);
}

/// The same state file and journal, in a new process.
std::unique_ptr<PriorityService> restarted_with(PriorityService& s, const std::vector<JobEvent>& journal, double t) {
    MemoryStore store;
    store.apply(s.take_batch());
    auto again = service();
    REQUIRE(again->restore(store.saved(), at(t)).has_value());
    again->begin_backlog();
    again->add_backlog(journal);
    again->end_backlog(at(t));
    return again;
}

}  // namespace

// Mutant: modules/job-priority/charges/membership.hpp: return job.has_resources && is_in_tree(job.payer) => return
// false
TEST_CASE("edits: a job that runs counts against the limits of its account under the account's new name") {
    auto s = edited_service(named_chem);
    run_in_chem(*s, 1, 1, bob);
    put_tree(*s, named_alch, 10);
    join_chem(*s, 2, 11, bob, "alch");
    CHECK(values_after(*s, 12).at(2) == 0);
    CHECK(memo_of(*s, 2) == "limit: alch uses at most 3 cores; 3 are in use");
    s->apply(freed(1, 20));
    CHECK(values_after(*s, 21).at(2) > 0);
    CHECK(charged(*s, "alch/@bob", 30) == 3 * 19'000'000);
}

// Mutant: modules/job-priority/charges/membership.cpp: book_.set_payer(id, running.payer); =>
TEST_CASE("edits: it does so after a restart, whose journal has the former name") {
    auto s = edited_service(named_chem);
    run_in_chem(*s, 1, 1, bob);
    put_tree(*s, named_alch, 10);
    JobEvent submit = submitted(1, 1, bob, "chem");
    std::get<SubmitEvent>(submit.what).request.cores = 3;
    auto again = restarted_with(*s, {submit, eligible(1, 1), started(1, 1, 3)}, 15);
    join_chem(*again, 2, 16, bob, "alch");
    CHECK(values_after(*again, 17).at(2) == 0);
    CHECK(charged(*again, "alch/@bob", 21) == 3 * 20'000'000);
}

// Mutant: modules/job-priority/gate/gate.hpp: || is_stranger(id); => ;
TEST_CASE("edits: who loses his line starts no job until he has one again") {
    auto s = edited_service(named_chem);
    run_in_chem(*s, 1, 1, bob);
    join_chem(*s, 2, 2, bob);
    join_chem(*s, 3, 2, carol, "bio");
    CHECK(values_after(*s, 3).at(2) == 0);
    put_tree(*s, chem_without_bob, 10);
    auto values = values_after(*s, 11);
    CHECK(values.count(2) == 0);  // still 0
    CHECK(memo_of(*s, 2) == "nobody would pay: bob is in no account chem of the share tree");
    CHECK(memo_of(*s, 3).empty());
    put_tree(*s, named_chem, 20);
    s->apply(freed(1, 21));
    CHECK(values_after(*s, 22).at(2) > 0);
    CHECK(memo_of(*s, 2).empty());
}

// Mutant: modules/job-priority/charges/membership.cpp: tree_ != accounting_.tree_ptr() || =>
TEST_CASE(
    "edits: a waiting job of an account that has another name now is held back, and says which accounts there are") {
    auto s = edited_service(named_chem);
    join_chem(*s, 2, 2, bob);
    CHECK(values_after(*s, 3).at(2) > 0);
    put_tree(*s, named_alch, 10);
    CHECK(values_after(*s, 11).at(2) == 0);
    CHECK(memo_of(*s, 2) ==
          "nobody would pay: bob is in no account chem of the share tree; flux update JOB bank=NAME moves the job to "
          "another account of bob: alch");
    UpdateEvent update;
    update.account = "alch";
    s->apply({2, at(12), update});
    CHECK(values_after(*s, 13).at(2) > 0);
}

TEST_CASE("edits: nobody is held back for his association where that is not enforced, or where none can be known") {
    Settings open = settings();
    open.is_enforced = false;
    auto s = service(false, open);
    put_tree(*s, named_chem);
    s->begin_backlog();
    s->end_backlog(at(0));
    join_chem(*s, 2, 2, bob);
    join_chem(*s, 3, 2, owner, "");
    put_tree(*s, chem_without_bob, 10);
    const auto values = values_after(*s, 11);
    CHECK(values.at(2) > 0);
    CHECK(values.at(3) > 0);
    s->configure(settings(), at(12));
    CHECK(values_after(*s, 13).at(2) == 0);
    CHECK(memo_of(*s, 3).empty());  // the owner's without an account
}

// Mutant: modules/job-priority/charges/accounting.cpp: charge_returned(at); =>
TEST_CASE("edits: who gets his line back pays again for what runs") {
    auto s = edited_service(named_chem);
    run_in_chem(*s, 1, 1, bob);
    put_tree(*s, chem_without_bob, 11);
    CHECK(charged(*s, "", 21) == 3 * 20'000'000);
    const bool is_restarted = GENERATE(false, true);
    if (is_restarted) {
        JobEvent submit = submitted(1, 1, bob, "chem");
        s = restarted_with(*s, {submit, eligible(1, 1), started(1, 1, 3)}, 15);
    }
    put_tree(*s, named_chem, 21);
    CHECK(charged(*s, "chem/@bob", 21) == 3 * 10'000'000);
    s->apply(freed(1, 31));
    CHECK(charged(*s, "chem/@bob", 99) == 3 * 20'000'000);
    CHECK(charged(*s, "", 99) == 3 * 10'000'000);
}

TEST_CASE("edits: so does who runs inside a partition, and the partition's cores are lent as before") {
    auto s = edited_service(named_chem);
    s->apply(submitted(7, 1, owner));
    s->apply(eligible(7, 1));
    s->apply(started(7, 1, 4));
    s->attach_child(7, "one", 1, at(1));
    const UplinkRow begin{true, 1, "bob", "chem", 3, at(1)}, end{false, 1, "bob", "chem", 3, at(31)};
    s->report(7, 1, {begin}, at(2));
    put_tree(*s, chem_without_bob, 11);
    put_tree(*s, named_chem, 21);
    s->report(7, 2, {end}, at(31));
    CHECK(charged(*s, "chem/@bob", 99) == 3 * 20'000'000);
    CHECK(charged(*s, "", 99) == 3 * 10'000'000);
    CHECK(s->accounting().ledger().charged(weir::idle, at(41)) == (1 * 30 + 4 * 10) * 1'000'000);
}

// Mutant: libfairshare/usage/counted_usage.cpp: kept.end(unassociated, charge.rate, at); =>
TEST_CASE("edits: what a site counts in its own way follows, as it runs and at dispatch") {
    Settings counting = settings();
    counting.billing.factors.qos = {{"high", 2.0}};
    counting.decay = GENERATE(weir::DecayKind::half_life, weir::DecayKind::window);
    counting.billing.charging = GENERATE(weir::Charging::as_it_runs, weir::Charging::at_dispatch);
    auto s = service(false, counting);
    put_tree(*s, named_chem);
    s->begin_backlog();
    s->end_backlog(at(0));
    JobEvent event = submitted(1, 1, bob, "chem");
    std::get<SubmitEvent>(event.what).request.wall_time = std::chrono::seconds(100);
    s->apply(event);
    s->apply(eligible(1, 1));
    s->apply(started(1, 1, 3));
    put_tree(*s, chem_without_bob, 11);
    put_tree(*s, named_chem, 21);
    s->apply(freed(1, 31));
    const auto measured = measured_at(*s, at(31));
    const auto bobs = s->accounting().tree().find("chem/@bob");
    REQUIRE(bobs);
    const bool is_prepaid = counting.billing.charging == weir::Charging::at_dispatch;
    // Windows do not come back to a leaf, unlike the usage of a ledger.
    const bool is_kept = counting.decay != weir::DecayKind::window;
    const double expected = is_prepaid ? 3 * 30. : is_kept ? 3 * 20. : 3 * 10.;
    CHECK(static_cast<double>(measured.usage.usage[bobs->value]) / 1e6 == Approx(expected).epsilon(0.001));
    CHECK(static_cast<double>(measured.usage.unassociated) / 1e6 == Approx(90. - expected).margin(0.1));
}

// Kills: the account of a job that started before an edit is looked for in the tree after it; the moves of a later edit
// left out; an older edit's tree taken for a job that started after it.
// Mutant: modules/job-priority/charges/child_reports.cpp: return then ? then : => return
// Mutant: modules/job-priority/charges/earlier_trees.hpp: then != trees_.end(); ++then) { => false; ++then) {
TEST_CASE("edits: who paid for a job when it started pays on, also if a child reports the start after the edit") {
    auto s = chem_with_partition();
    put_tree(*s, named_alch, 10);
    put_tree(*s, "\"bio\" = 1\n\"bio/@carol\" = 1\n\"gold\" = 1\n\"gold/@bob\" = 1\n", 20);
    s->report(50, 1,
              {{true, 1, "bob", "chem", 1, at(5)},   // gold by two edits
               {true, 2, "bob", "alch", 1, at(15)},  // gold by one
               {true, 3, "bob", "chem", 1, at(15)},  // no line of that time
               {true, 4, "bob", "gold", 1, at(25)},
               {true, 5, "carol", "bio", 1, at(25)}},
              at(30));
    CHECK(charged(*s, "gold/@bob", 105) == 100'000'000 + 90'000'000 + 80'000'000);
    CHECK(charged(*s, "bio/@carol", 105) == 80'000'000);
    CHECK(s->accounting().ledger().charged(weir::unassociated, at(105)) == 90'000'000);
}

// Kills: the trees that edits replaced forgotten at a restart; those of before it taken for those of edits since.
// Mutant: modules/job-priority/charges/earlier_trees.hpp: ? make_restored_ && at <= restored_until_ => ? false
// Mutant: modules/job-priority/charges/earlier_trees.hpp: insert(trees_.begin(), => insert(trees_.end(),
// Mutant: modules/job-priority/priority_service.cpp: present = std::move(shared); => (void)shared;
TEST_CASE("edits: who paid for a job when it started pays on, also if it is reported after edits and a restart") {
    auto before = chem_with_partition();
    put_tree(*before, named_alch, 10);
    put_tree(*before, "\"bio\" = 1\n\"bio/@carol\" = 1\n\"gold\" = 1\n\"gold/@bob\" = 1\n", 20);
    JobRequest partition;
    partition.is_instance = true;
    const auto s = restarted_with(
        *before, {{50, at(1), SubmitEvent{owner, 16, std::move(partition)}}, eligible(50, 1), started(50, 2, 6)}, 25);
    s->attach_child(50, "one", 1, at(25));
    SECTION("no edit since") {}
    SECTION("one since") {
        put_tree(*s, "\"bio\" = 1\n\"bio/@carol\" = 1\n\"gold\" = 2\n\"gold/@bob\" = 1\n", 27);
    }
    s->report(50, 1,
              {{true, 1, "bob", "chem", 1, at(5)},
               {true, 2, "bob", "alch", 1, at(15)},
               {true, 3, "bob", "chem", 1, at(15)},  // no line of that time
               {true, 4, "bob", "gold", 1, at(25)}},
              at(30));
    CHECK(charged(*s, "gold/@bob", 105) == 100'000'000 + 90'000'000 + 80'000'000);
    CHECK(s->accounting().ledger().charged(weir::unassociated, at(105)) == 90'000'000);
}

TEST_CASE("edits: a job that a child reports after the edit that removed its line is paid by nobody") {
    auto s = chem_with_partition();
    put_tree(*s, "\"bio\" = 1\n\"bio/@carol\" = 1\n", 10);
    CHECK(s->report(50, 1, {{true, 1, "bob", "chem", 1, at(5)}}, at(30)) == 1);
    CHECK(s->accounting().ledger().charged(weir::unassociated, at(105)) == 100'000'000);
}
