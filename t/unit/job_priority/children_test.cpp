// SPDX-License-Identifier: LGPL-3.0-only
#include <catch2/catch.hpp>
#include <ostream>

#include "modules/job-priority/state/memory_store.hpp"
#include "t/unit/job_priority/support.hpp"

using namespace weir;
using namespace weir::priority;
using namespace weir::priority::testing;

namespace {

constexpr FluxJobId child = 50;

/// A parent on which `who` runs a child instance on 10 cores from t = 100. What it does not report is paid by bio, or,
/// where the owner named no account, idle.
std::unique_ptr<PriorityService> parent_with_child(std::uint32_t who = owner, const std::string& account = "bio") {
    auto s = ready_service();
    s->apply(submitted(child, 90, who, account));
    s->apply(eligible(child, 90));
    s->apply(started(child, 100, 10));
    s->attach_child(child, "one", 1, at(100));
    return s;
}

/// What the child of parent_with_child() tells, long after it happened.
std::uint64_t tell(PriorityService& s, std::uint64_t seq, const std::vector<UplinkRow>& records) {
    return s.report(child, seq, records, at(900));
}

UplinkRow start(std::uint64_t job, std::int64_t cores, double t) {
    return {true, job, "alice", "physics/lattice", cores, at(t)};
}
UplinkRow end(std::uint64_t job, std::int64_t cores, double t) {
    return {false, job, "alice", "physics/lattice", cores, at(t)};
}
/// The same of a user in bio, inside another job.
UplinkRow of(UplinkRow record, const std::string& user, std::uint64_t inside) {
    record.user = user;
    record.account = "bio";
    record.inside = inside;
    return record;
}

/// Core-seconds that each user is charged in the end.
struct Seconds {
    double alice, bob, carol, owner;
    friend bool operator==(const Seconds&, const Seconds&) = default;
    friend std::ostream& operator<<(std::ostream& out, const Seconds& s) {
        return out << "alice " << s.alice << ", bob " << s.bob << ", carol " << s.carol << ", owner " << s.owner;
    }
};
Seconds charged_seconds(const PriorityService& s) {
    const auto of_path = [&s](const char* path) { return static_cast<double>(charged(s, path, 999)) / 1e6; };
    return {of_path("physics/lattice/@alice"), of_path("bio/@bob"), of_path("bio/@carol"), of_path("bio/@owner")};
}

}  // namespace

TEST_CASE("children: reported users pay for their jobs, the child's owner for the rest, nobody twice") {
    auto s = parent_with_child();
    CHECK(tell(*s, 1, {start(1, 4, 110), end(1, 4, 120)}) == 2);
    s->apply(freed(child, 200));
    CHECK(charged(*s, "physics/lattice/@alice", 999) == 40'000'000);
    CHECK(charged(*s, "bio/@owner", 999) == 960'000'000);
}

TEST_CASE("children: a record that comes twice counts once, a gap is not jumped") {
    auto s = parent_with_child();
    tell(*s, 1, {start(1, 4, 110)});
    CHECK(tell(*s, 1, {start(1, 4, 110), end(1, 4, 120)}) == 2);
    CHECK(tell(*s, 7, {start(2, 4, 130)}) == 2);
    CHECK(tell(*s, 1, {start(1, 4, 110), end(1, 4, 120)}) == 2);  // closed, so only its number tells
    CHECK(charged(*s, "physics/lattice/@alice", 999) == 40'000'000);
}

TEST_CASE("children: a job inside a reported job takes its cores, and ends with it") {
    auto s = parent_with_child();
    UplinkRow inner = start(2, 3, 120);
    inner.user = "carol";
    inner.account = "bio";
    inner.inside = 1;
    tell(*s, 1, {start(1, 4, 110), inner, end(1, 4, 130), inner});
    s->apply(freed(child, 200));
    CHECK(charged(*s, "bio/@carol", 999) == 30'000'000);
    CHECK(charged(*s, "physics/lattice/@alice", 999) == 50'000'000);
    CHECK(charged(*s, "bio/@owner", 999) == 920'000'000);
}

// Mutant: modules/job-priority/charges/accounting_reported.cpp: told_until(inner, reported_.at(inner)) => until
TEST_CASE("children: an instance does not end before what was told of its instances' jobs") {
    auto s = parent_with_child();
    tell(*s, 1,
         {start(1, 4, 110), of(start(2, 3, 110), "carol", 1), of(start(3, 3, 110), "bob", 2),
          of(end(3, 3, 130), "bob", 2), end(1, 4, 120)});
    s->apply(freed(child, 200));
    CHECK(charged_seconds(*s) == Seconds{.alice = 20, .bob = 60, .carol = 0, .owner = 920});
}

// Mutant: modules/job-priority/charges/accounting_reported.cpp: closed_.is_taken(key) || => false ||
TEST_CASE("children: the number of an instance that ended is no other job's while jobs in it may be corrected") {
    auto s = parent_with_child();
    tell(*s, 1, {start(1, 4, 110), of(start(2, 3, 110), "carol", 1), end(1, 4, 140)});
    tell(*s, 4, {start(1, 4, 150), of(start(3, 1, 150), "bob", 1), end(1, 4, 160), of(end(2, 3, 120), "carol", 1)});
    s->apply(freed(child, 200));
    CHECK(charged_seconds(*s) == Seconds{.alice = 30, .bob = 0, .carol = 90, .owner = 880});
}

// Mutant: modules/job-priority/charges/closed_jobs.cpp: std::min(at, latest(lender)) => at
TEST_CASE("children: nothing in an instance that ended is charged past its end") {
    auto s = parent_with_child();
    tell(*s, 1, {start(1, 4, 110), of(start(2, 3, 110), "carol", 1), end(1, 4, 140)});
    tell(*s, 4, {of(start(3, 1, 150), "bob", 1), of(end(2, 3, 120), "carol", 1), of(end(3, 1, 160), "bob", 1)});
    s->apply(freed(child, 200));
    // A report is not dated before the last one of its lender.
    CHECK(charged_seconds(*s) == Seconds{.alice = 30, .bob = 0, .carol = 90, .owner = 880});
}

// Mutant: modules/job-priority/charges/closed_jobs.cpp: end_inside(ledgers, key, at); =>
// Mutant: modules/job-priority/charges/closed_jobs.cpp: && !inside_.has(key)) => )
TEST_CASE("children: a corrected end of an instance is also that of the jobs in it, until their own is told") {
    auto s = parent_with_child();
    tell(*s, 1,
         {start(1, 4, 110), of(start(2, 3, 110), "carol", 1), of(start(3, 3, 110), "bob", 2), end(1, 4, 140),
          of(end(2, 3, 120), "carol", 1)});
    CHECK(charged(*s, "bio/@bob", 999) == 30'000'000);
    CHECK(charged(*s, "bio/@carol", 999) == 0);
    CHECK(charged(*s, "physics/lattice/@alice", 999) == 90'000'000);
    tell(*s, 6, {of(end(3, 3, 115), "bob", 2)});
    s->apply(freed(child, 200));
    CHECK(charged_seconds(*s) == Seconds{.alice = 90, .bob = 15, .carol = 15, .owner = 880});
}

// Mutant: modules/job-priority/charges/accounting.hpp: return reported_.count(key) == 0 && => return
TEST_CASE("children: a job that runs is none that began in an instance that ended") {
    auto s = parent_with_child();
    tell(*s, 1,
         {start(1, 4, 110), of(start(2, 3, 110), "carol", 1), end(1, 4, 140), start(9, 1, 150),
          of(start(9, 1, 130), "bob", 1), end(9, 1, 160)});
    s->apply(freed(child, 200));
    CHECK(charged(*s, "bio/@bob", 999) == 0);
    CHECK(charged(*s, "physics/lattice/@alice", 999) == 40'000'000);
    CHECK(charged(*s, "bio/@owner", 999) == 870'000'000);
}

TEST_CASE("children: what is open when the child ends, ends with it") {
    auto s = parent_with_child();
    tell(*s, 1, {start(1, 4, 110)});
    s->apply(freed(child, 150));
    CHECK(charged(*s, "physics/lattice/@alice", 999) == 160'000'000);
    CHECK(charged(*s, "bio/@owner", 999) == 340'000'000);
    CHECK(s->accounting().ledger().rate(root_node) == 0);
    CHECK(s->children().children().empty());
}

TEST_CASE("children: a child cannot charge more cores than its job has") {
    auto s = parent_with_child();
    tell(*s, 1, {start(1, 8, 110), start(2, 8, 110)});
    CHECK(s->accounting().ledger().rate(root_node) == 10);
    s->apply(freed(child, 120));
    CHECK(charged(*s, "physics/lattice/@alice", 999) == 100'000'000);
    CHECK(charged(*s, "bio/@owner", 999) == 100'000'000);
}

TEST_CASE("children: a child that lost its state tells again, and is not believed twice") {
    auto s = parent_with_child();
    tell(*s, 1, {start(1, 4, 110), end(1, 4, 120), start(2, 4, 130)});
    CHECK(s->attach_child(child, "two", 1, at(900)) == 0);
    tell(*s, 1, {start(1, 4, 110), end(1, 4, 120)});
    tell(*s, 3, {start(2, 4, 130), end(2, 4, 140), start(3, 4, 150), end(3, 4, 160)});
    CHECK(charged(*s, "physics/lattice/@alice", 999) == 120'000'000);
}

TEST_CASE("children: a child with an older copy of its state numbers anew, and only what is new is believed") {
    auto s = parent_with_child();
    tell(*s, 1, {start(1, 4, 110), end(1, 4, 120), start(2, 4, 130), end(2, 4, 140)});
    UplinkQueue older(1, {});
    CHECK_FALSE(older.attached(s->attach_child(child, "one", older.first_seq(), at(150))));
    REQUIRE(older.attached(s->attach_child(child, "two", older.first_seq(), at(150))));
    CHECK(tell(*s, 2, {end(1, 4, 120), start(3, 4, 150), end(3, 4, 160)}) == 4);
    CHECK(charged(*s, "physics/lattice/@alice", 999) == 120'000'000);
}

TEST_CASE("children: a parent that lost its state goes on from what the child still has") {
    auto s = parent_with_child();
    CHECK(s->attach_child(child, "one", 41, at(900)) == 40);
    CHECK(tell(*s, 41, {start(9, 1, 110)}) == 41);
}

TEST_CASE("children: only the owner of a running job, or of the instance, speaks for it") {
    auto s = parent_with_child(bob);
    CHECK(s->children().authorize(child, bob, false));
    CHECK(s->children().authorize(child, owner, true));
    const Status hidden = s->children().authorize(child, alice, false, true);
    CHECK(hidden.error().code == s->children().authorize(78, alice, false, true).error().code);
    CHECK(s->children().authorize(child, bob, false, true));
    const Status stranger = s->children().authorize(child, alice, false);
    REQUIRE_FALSE(stranger);
    CHECK(stranger.error().code == std::errc::operation_not_permitted);
    s->apply(freed(child, 150));
    CHECK_FALSE(s->children().authorize(child, bob, false));
    CHECK_FALSE(s->children().authorize(77, bob, false));
}

TEST_CASE("children: of a guest's child its owner is believed about himself alone") {
    auto s = parent_with_child(bob);
    const UplinkRow stranger{true, 1, "alice", "physics/lattice", 1, at(110)};
    UplinkRow by_number = stranger;
    by_number.user = std::to_string(alice);
    by_number.job = 2;
    UplinkRow elsewhere = stranger;  // an account that he is not in, and one that nobody has
    elsewhere.user = "bob";
    elsewhere.job = 3;
    UplinkRow nowhere = elsewhere;
    nowhere.account = "nowhere";
    nowhere.job = 4;
    UplinkRow himself = elsewhere;
    himself.account = "bio";
    himself.job = 5;
    CHECK(tell(*s, 1, {stranger, by_number, elsewhere, nowhere, himself}) == 5);
    CHECK(s->children().not_believed() == 4);
    CHECK(s->accounting().reported().size() == 1);
    CHECK(charged(*s, "physics/lattice/@alice", 300) == 0);
    CHECK(charged(*s, "", 300) == 0);
    CHECK(charged(*s, "bio/@bob", 300) == 2'000'000'000);
}

TEST_CASE("children: a routed job of a guest is a guest's, though the owner submitted it") {
    auto s = ready_service();
    JobRequest request;
    request.routed_for = bob;
    request.account = "bio";
    s->apply({child, at(90), SubmitEvent{owner, 16, request}});
    s->apply(eligible(child, 90));
    s->apply(started(child, 100, 10));
    tell(*s, 1, {start(1, 4, 110)});
    CHECK(s->accounting().reported().empty());
}

// Mutant: modules/job-priority/charges/child_reports.cpp: record.time = std::min(record.time, now); =>
TEST_CASE("children: no time lies outside of the job or after now, and none is told twice") {
    auto s = parent_with_child(bob);
    UplinkRow open{true, 1, "bob", "bio", 4, at(-1e9)};
    UplinkRow close{false, 1, "bob", "bio", 4, at(4e9)};
    const LedgerState before = s->accounting().ledger().save();
    tell(*s, 1, {open, close});
    CHECK(s->accounting().ledger().save().frame == before.frame);
    CHECK(s->children().children().at(child).applied_until == at(900));
    open.job = close.job = 2;
    open.time = at(100);
    tell(*s, 3, {open, close});
    CHECK(s->accounting().find(child)->told_until == at(900));
    CHECK(charged(*s, "bio/@bob", 900) == 8'000'000'000);
}

TEST_CASE("children: an hour told again charges nobody again, also after a restart") {
    auto s = parent_with_child(owner, "");
    MemoryStore store;
    store.apply(s->take_batch());
    for (std::uint64_t n = 0; n < 3; ++n) {
        tell(*s, 2 * n + 1, {start(n + 1, 10, 110), end(n + 1, 10, 200)});
        store.apply(s->take_batch());
        s = service();
        REQUIRE(s->restore(store.saved(), at(900)).has_value());
        s->begin_backlog();
        s->add_backlog({submitted(child, 90, owner), eligible(child, 90), started(child, 100, 10)});
        s->end_backlog(at(900));
    }
    CHECK(charged(*s, "physics/lattice/@alice", 999) == 900'000'000);
    CHECK(s->accounting().ledger().charged(idle, at(999)) == 8'090'000'000);
}

TEST_CASE("children: what is open is bounded by the job's cores, also of jobs inside one another") {
    auto s = parent_with_child();
    std::vector<UplinkRow> records;
    for (std::uint64_t job = 1; job <= 300; ++job) {
        records.push_back(start(job, 0, 110));
        records.push_back(start(1000 + job, 10, 110));
        records.back().inside = job == 1 ? 0 : 999 + job;
        records.push_back(start(2000 + job, 1, 110));
    }
    tell(*s, 1, records);
    CHECK(s->accounting().reported().size() == Accounting::reported_depth_max + 1);
    CHECK(s->accounting().ledger().rate(root_node) == 10);
}

TEST_CASE("children: nobody gets a leaf whom neither the tree nor the system knows") {
    auto s = parent_with_child();
    const std::uint32_t nodes = s->accounting().tree().size();
    double t = 110;
    for (const char* name : {"zed", "70000", "alice/@x", "*", ""}) {
        tell(*s, s->children().children().at(child).seq_acked + 1,
             {{true, 1, name, "bio", 1, at(t)}, {false, 1, name, "bio", 1, at(t + 10)}});
        t += 10;
    }
    CHECK(s->accounting().tree().size() == nodes);
    CHECK(charged(*s, "", 999) == 40'000'000);  // the nameless one's cores stay whose they are
    tell(*s, s->children().children().at(child).seq_acked + 1, {{true, 1, "carol", "bio", 1, at(t)}});
    CHECK(s->accounting().tree().size() == nodes + 1);
}

TEST_CASE("children: what a partition holds and does not use is idle, and no use of anybody") {
    auto s = parent_with_child(owner, "");
    tell(*s, 1, {start(1, 4, 110), end(1, 4, 120)});
    s->apply(freed(child, 200));
    CHECK(charged(*s, "physics/lattice/@alice", 999) == 40'000'000);
    CHECK(s->accounting().ledger().charged(idle, at(999)) == 960'000'000);
    CHECK(charged(*s, "", 999) == 0);
    UsageSnapshot snapshot;
    s->accounting().measure(at(200), snapshot);
    CHECK(snapshot.usage[root_node.value] < 41'000'000);
    CHECK(snapshot.idle > 900'000'000);
}

TEST_CASE("children: the time before a partition attached is its owner's, unless it said what it is when submitted") {
    for (const bool said : {false, true}) {
        auto s = ready_service();
        JobRequest request;
        request.is_instance = said;
        s->apply({child, at(90), SubmitEvent{owner, 16, request}});
        s->apply(eligible(child, 90));
        s->apply(started(child, 100, 10));
        s->attach_child(child, "one", 1, at(103));
        s->attach_child(child, "two", 1, at(150));
        s->apply(freed(child, 200));
        CHECK(charged(*s, "bio/@owner", 999) == (said ? 0 : 30'000'000));
        CHECK(s->accounting().ledger().charged(idle, at(999)) == (said ? 1'000'000'000 : 970'000'000));
    }
}

TEST_CASE("children: a partition that waits or runs makes no leaf for its owner") {
    auto s = ready_service();
    const std::uint32_t nodes = s->accounting().tree().size();
    JobRequest request;
    request.is_instance = true;
    s->apply({child, at(90), SubmitEvent{owner, 16, request}});
    s->apply(eligible(child, 90));
    s->pass(at(95));
    s->apply(started(child, 100, 10));
    s->attach_child(child, "one", 1, at(103));
    CHECK(s->accounting().tree().size() == nodes);
}

TEST_CASE("children: a partition makes no leaf for its owner in a backlog either") {
    auto s = service();
    put_tree(*s);
    const std::uint32_t nodes = s->accounting().tree().size();
    JobRequest request;
    request.is_instance = true;
    s->begin_backlog();
    s->add_backlog({{child, at(90), SubmitEvent{owner, 16, request}}, eligible(child, 90), started(child, 100, 10)});
    s->end_backlog(at(103));
    CHECK(s->accounting().tree().size() == nodes);
}

TEST_CASE("children: a guest's job is no partition, whatever it says") {
    auto s = ready_service();
    JobRequest request;
    request.is_instance = true;
    request.serves = "debug";
    s->apply({child, at(90), SubmitEvent{bob, 16, request}});
    s->apply(eligible(child, 90));
    s->apply(started(child, 100, 10));
    s->attach_child(child, "one", 1, at(103));
    CHECK(charged(*s, "bio/@bob", 200) == 1'000'000'000);
    CHECK(s->book().find(child)->request->serves.empty());
}

TEST_CASE("children: a job that was lent to a partition is paid by its own queue's line") {
    auto s = ready_service();
    put_tree(*s, "\"queue:debug\" = 1\n\"queue:debug/@alice\" = 1\n\"queue:batch\" = 1\n\"queue:batch/@alice\" = 1\n");
    JobEvent submit = submitted(child, 90, owner);
    auto& request = std::get<SubmitEvent>(submit.what).request;
    request.is_instance = true;
    request.serves = "debug";
    s->apply(submit);
    s->apply(eligible(child, 90));
    s->apply(started(child, 100, 10));
    s->attach_child(child, "one", 1, at(100));
    tell(*s, 1, {{true, 1, "alice", "", 4, at(110), 0, {.queue = "batch"}}, {true, 2, "alice", "", 2, at(110)}});
    CHECK(charged(*s, "queue:batch/@alice", 120) == 40'000'000);
    CHECK(charged(*s, "queue:debug/@alice", 120) == 20'000'000);
}

TEST_CASE("children: an instance whose partition idles tells its own parent of nobody, not of its owner") {
    auto s = service(true);
    put_tree(*s);
    s->begin_backlog();
    s->end_backlog(at(0));
    JobRequest request;
    request.is_instance = true;
    s->apply({child, at(90), SubmitEvent{owner, 16, request}});
    s->apply(eligible(child, 90));
    s->apply(started(child, 100, 10));
    tell(*s, 1, {start(1, 4, 110)});
    s->sends().uplink().queue().attached(0);
    const auto batch = s->sends().uplink().queue().next();
    REQUIRE(batch);
    REQUIRE(batch->records.size() == 2);
    CHECK(batch->records[0].user.empty());
    CHECK(batch->records[1].inside == child);
}

TEST_CASE("children: of a job that is gone after a restart nothing is kept, wherever the job-manager lost it") {
    for (const bool knows_submit : {false, true}) {
        auto s = parent_with_child();
        tell(*s, 1, {start(1, 4, 110)});
        MemoryStore store;
        store.apply(s->take_batch());
        s = service();
        REQUIRE(s->restore(store.saved(), at(900)).has_value());
        s->begin_backlog();
        if (knows_submit) {
            s->add_backlog({submitted(child, 90, owner, "bio"), eligible(child, 90), cleaned(child, 300)});
        }
        s->end_backlog(at(900));
        store.apply(s->take_batch());
        CHECK(store.saved().downlinks.empty());
        CHECK(store.saved().running.empty());
        CHECK(store.saved().reported.empty());
        CHECK(s->accounting().ledger().rate(root_node) == 0);
    }
}

TEST_CASE("children: factors go down whole at first, then as they change") {
    auto s = parent_with_child();
    s->pass(at(110));
    FactorPublication::Rows sent = changed_factors(*s);
    CHECK(sent.rows.size() == 4);  // alice, bob, owner, bio/@*
    CHECK(sent.is_complete);
    s->pass(at(110));
    sent = changed_factors(*s);
    CHECK(sent.rows.empty());
    CHECK_FALSE(sent.is_complete);
    put_tree(*s, "\"physics\" = 1\n\"physics/@alice\" = 1\n", 120);
    s->pass(at(121));
    sent = changed_factors(*s);
    CHECK(sent.rows.size() == 1);
    CHECK(sent.is_complete);
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
    s->sends().uplink().queue().attached(0);
    const auto batch = s->sends().uplink().queue().next();
    REQUIRE(batch);
    REQUIRE(batch->records.size() == 2);
    CHECK(batch->records[0].user == "alice");
    CHECK(batch->records[0].account == "lattice");
    CHECK(batch->records[1].cores == 3);
    CHECK_FALSE(batch->records[1].is_start);
}

// Mutant: modules/job-priority/charges/payer_memo.hpp: void clear() { payers_.clear(); } => void clear() {}
TEST_CASE("children: who pays for a job inside is looked for anew after a change of the tree") {
    auto s = parent_with_child(owner, "");
    tell(*s, 1, {of(start(1, 1, 110), "erin", 0), of(end(1, 1, 120), "erin", 0)});
    CHECK_FALSE(s->accounting().tree().find("bio/@erin"));
    const SignedCoreMicros nobodys = charged(*s, "", 999);
    put_tree(*s, std::string(tree_text) + "\"bio/@erin\" = 1\n", 130);
    tell(*s, 3, {of(start(2, 1, 140), "erin", 0), of(end(2, 1, 150), "erin", 0)});
    CHECK(charged(*s, "bio/@erin", 999) == 10'000'000);
    CHECK(charged(*s, "", 999) == nobodys);
}
