// SPDX-License-Identifier: LGPL-3.0-only
// A child instance that was killed with its jobs and comes back as another job of its parent.
#include <catch2/catch.hpp>

#include "modules/job-priority/state/memory_store.hpp"
#include "t/unit/job_priority/support.hpp"

using namespace weir;
using namespace weir::priority;
using namespace weir::priority::testing;

namespace {

constexpr FluxJobId first_life = 50;
constexpr FluxJobId second_life = 51;
constexpr double end_of_test = 999;

void begin_life(PriorityService& s, FluxJobId child, double t, std::uint32_t userid) {
    s.apply(submitted(child, t - 1, userid));
    s.apply(eligible(child, t - 1));
    s.apply(started(child, t, 10));
}

/// A parent on which a partition ran on 10 cores from t = 100 to 150, told of alice's job 1 (4 cores from t = 110), and
/// runs again from t = 200.
struct TwoLives {
    std::unique_ptr<PriorityService> s = ready_service();
    explicit TwoLives(std::uint32_t userid = owner) {
        begin_life(*s, first_life, 100, userid);
        s->attach_child(first_life, "one", 1, at(100));
        s->report(first_life, 1, {record(true, 1, 110)}, at(111));
        s->apply(freed(first_life, 150));
        begin_life(*s, second_life, 200, userid);
    }
    static UplinkRow record(bool is_start, std::uint64_t job, double t) {
        return {is_start, job, "alice", "physics/lattice", 4, at(t)};
    }
    void attach(const std::string& instance, std::uint64_t first_seq) {
        s->attach_child(second_life, instance, first_seq, at(200));
    }
    void report(std::uint64_t seq, std::vector<UplinkRow> records) {
        s->report(second_life, seq, std::move(records), at(300));
    }
    SignedCoreMicros alice_us() const { return charged(*s, "physics/lattice/@alice", end_of_test); }
    SignedCoreMicros idle_us() const { return s->accounting().ledger().charged(idle, at(end_of_test)); }
};

constexpr SignedCoreMicros second_life_us = 799 * 10 * 1'000'000LL;  // from 200 to the end of the test

}  // namespace

// Kills: after a power failure the clock is behind a report that was committed, and nothing says so.
TEST_CASE("lives: a report moves the time before which the clock does not begin again") {
    TwoLives lives;
    (void)lives.s->take_batch();
    lives.attach("one", 2);
    lives.report(2, {});
    CHECK(lives.s->log().meta().position == at(300));
}

TEST_CASE("lives: what was open when the child's job ended ended when the child says") {
    for (const double end : {120., 150., 150.5}) {
        TwoLives lives;
        CHECK(lives.alice_us() == 160'000'000);
        lives.attach("one", 2);
        lives.report(2, {TwoLives::record(false, 1, end)});
        CHECK(lives.alice_us() == static_cast<SignedCoreMicros>((end - 110) * 4e6));
        const double lent = std::min(end, 150.) - 110;  // the partition had no core after 150
        CHECK(lives.idle_us() == second_life_us + static_cast<SignedCoreMicros>((50 * 10 - lent * 4) * 1e6));
        CHECK(lives.s->accounting().ledger().rate(idle) == 10);
    }
}

TEST_CASE("lives: a job that held its cores while its child was down goes on in the next life, and the time is free") {
    TwoLives lives;
    lives.attach("one", 2);
    lives.report(2, {TwoLives::record(false, 1, 140), TwoLives::record(true, 1, 205), TwoLives::record(false, 1, 215)});
    CHECK(lives.alice_us() == (30 + 10) * 4'000'000);
    CHECK(lives.idle_us() == second_life_us - 10 * 4'000'000 + (50 * 10 - 30 * 4) * 1'000'000);
}

TEST_CASE("lives: a job of which the first life had not told yet is charged where it ran") {
    TwoLives lives;
    lives.attach("one", 2);
    lives.report(2, {TwoLives::record(true, 2, 120), TwoLives::record(false, 1, 130), TwoLives::record(false, 2, 140)});
    CHECK(lives.alice_us() == (80 + 80) * 1'000'000);
    CHECK(lives.idle_us() == second_life_us + (500 - 160) * 1'000'000);
    CHECK(lives.s->accounting().closed().size() == 1);  // the first life itself
}

TEST_CASE("lives: records whose answer was lost are not applied again in the next life") {
    TwoLives lives;
    lives.attach("one", 1);
    lives.report(1, {TwoLives::record(true, 1, 110), TwoLives::record(false, 1, 130)});
    CHECK(lives.alice_us() == 80'000'000);
}

TEST_CASE("lives: jobs of the new life are charged there") {
    TwoLives lives;
    lives.attach("one", 2);
    lives.report(2, {TwoLives::record(false, 1, 150), TwoLives::record(true, 2, 210), TwoLives::record(false, 2, 220)});
    CHECK(lives.alice_us() == 200'000'000);
    CHECK(lives.idle_us() == second_life_us + 340'000'000 - 40'000'000);
}

TEST_CASE("lives: another instance does not speak for the first") {
    TwoLives lives;
    lives.attach("two", 1);
    lives.report(1, {TwoLives::record(false, 1, 120)});
    CHECK(lives.alice_us() == 160'000'000);
}

TEST_CASE("lives: a guest's word changes nothing that is over") {
    TwoLives lives(alice);
    const SignedCoreMicros before = lives.alice_us();
    lives.attach("one", 2);
    lives.report(2, {TwoLives::record(false, 1, 300), TwoLives::record(true, 2, 120)});
    CHECK(lives.alice_us() == before);
}

// Kills: a job inside a job goes on after the guessed end of both, and the cores of neither are less for it (seed
// 8343373 of the world, 1x3).
TEST_CASE("lives: a job inside a user's job takes its cores also after the guessed end of both") {
    for (const double end : {140., 150., 160., 180.}) {
        TwoLives lives;
        lives.s = ready_service();
        begin_life(*lives.s, first_life, 100, owner);
        lives.s->attach_child(first_life, "one", 1, at(100));
        lives.s->report(first_life, 1, {TwoLives::record(true, 1, 110), {true, 2, "", "", 1, at(120), 1}}, at(121));
        lives.s->apply(freed(first_life, 150));  // a parent that was killed guessed: the life went on until 190
        begin_life(*lives.s, second_life, 200, owner);
        lives.attach("one", 3);
        lives.report(3, {{false, 2, "", "", 0, at(170)}, TwoLives::record(false, 1, end)});
        CHECK(lives.alice_us() == static_cast<SignedCoreMicros>((end - 110) * 4e6));
        const double lent = std::min(end, 150.) - 110;
        CHECK(lives.idle_us() == second_life_us + static_cast<SignedCoreMicros>((50 * 10 - lent * 4) * 1e6));
    }
}

// Kills: a told end that lies after the parent's guess of the life's end counts as open, and its cores as taken.
TEST_CASE("lives: what an instance inside had is free for others from its told end, also after the guessed end") {
    TwoLives lives;
    lives.s = ready_service();
    begin_life(*lives.s, first_life, 100, owner);
    lives.s->attach_child(first_life, "one", 1, at(100));
    lives.s->report(first_life, 1, {{true, 5, "", "", 10, at(101)}}, at(111));
    lives.s->apply(freed(first_life, 150));  // a stopped parent guessed: the life went on until 190
    begin_life(*lives.s, second_life, 200, owner);
    lives.attach("one", 2);
    lives.report(2, {{false, 5, "", "", 0, at(160)},
                     {true, 6, "alice", "physics/lattice", 10, at(170)},
                     {false, 6, "", "", 0, at(180)}});
    CHECK(lives.alice_us() == 100'000'000);
}

namespace {

/// TwoLives, and between the two a life from t = 160 to 180 that did not attach.
struct ShortLife : TwoLives {
    static constexpr FluxJobId short_life = 52;
    ShortLife() {
        s = ready_service();
        begin_life(*s, first_life, 100, owner);
        s->attach_child(first_life, "one", 1, at(100));
        s->report(first_life, 1, {record(true, 1, 110)}, at(111));
        s->apply(freed(first_life, 150));
        JobEvent submit = submitted(short_life, 159, owner);
        std::get<SubmitEvent>(submit.what).request.is_instance = true;
        s->apply(submit);
        s->apply(eligible(short_life, 159));
        s->apply(started(short_life, 160, 10));
        s->apply(freed(short_life, 180));
        begin_life(*s, second_life, 200, owner);
    }
    /// The first life's job kept its cores until the end; job 2 took all of the short life's from 165 to 175.
    void tell() {
        const UplinkRow all{true, 2, "alice", "physics/lattice", 10, at(165)};
        report(2, {record(false, 1, 150), all, record(false, 2, 175)});
    }
};
constexpr SignedCoreMicros first_job_us = 160'000'000;
constexpr SignedCoreMicros short_job_us = 100'000'000;

}  // namespace

TEST_CASE("lives: what a life that did not attach ran is charged to its users once the next one names it") {
    ShortLife lives;
    lives.s->attach_child(second_life, "one", 2, at(200), {first_life, ShortLife::short_life, second_life});
    lives.tell();
    CHECK(lives.alice_us() == first_job_us + short_job_us);
    CHECK(lives.idle_us() == second_life_us + 500'000'000 - first_job_us + 200'000'000 - short_job_us);
}

TEST_CASE("lives: a life belongs to the instance that attached in it or that named it first") {
    ShortLife lives;
    constexpr FluxJobId other = 60;
    begin_life(*lives.s, other, 190, owner);
    lives.s->attach_child(other, "two", 1, at(190), {first_life, ShortLife::short_life});
    const auto name_of = [&](FluxJobId life) { return lives.s->accounting().closed().at({life, 0}).downlink.instance; };
    CHECK(name_of(first_life) == "one");
    CHECK(name_of(ShortLife::short_life) == "two");
    lives.s->attach_child(second_life, "one", 2, at(200), {first_life, ShortLife::short_life});
    CHECK(name_of(ShortLife::short_life) == "two");
}

TEST_CASE("lives: a child does not name a life that ended after its own began, nor one that never was") {
    ShortLife lives;
    constexpr FluxJobId before = 60;
    begin_life(*lives.s, before, 170, owner);
    lives.s->attach_child(before, "one", 2, at(200), {ShortLife::short_life, 0, 999});
    CHECK(lives.s->accounting().closed().at({ShortLife::short_life, 0}).downlink.instance.empty());
}

TEST_CASE("lives: a guest names no life of the owner's, and none of his own is kept") {
    ShortLife lives;
    constexpr FluxJobId guests = 60;
    begin_life(*lives.s, guests, 190, alice);
    lives.s->attach_child(guests, "one", 1, at(200), {ShortLife::short_life, first_life});
    CHECK(lives.s->accounting().closed().at({ShortLife::short_life, 0}).downlink.instance.empty());
    lives.s->apply(freed(guests, 210));
    CHECK(lives.s->accounting().closed().count({guests, 0}) == 0);
}

TEST_CASE("lives: an instance remembers the jobs that it lived in, the last 32") {
    auto child = service(true);
    for (std::uint64_t host = 1; host <= 40; ++host) {
        child->log().begin_life(host);
        child->log().begin_life(host);
    }
    MemoryStore store;
    store.apply(child->take_batch());
    const std::vector<std::uint64_t> hosts = store.saved().meta.hosts;
    REQUIRE(hosts.size() == StateLog::hosts_max);
    CHECK(hosts.front() == 9);
    CHECK(hosts.back() == 40);
}

namespace {

/// A root whose partition 7 runs on 20 cores from t = 90; the partition inside it is that of TwoLives.
struct ThreeLevels {
    static constexpr FluxJobId middle_job = 7;
    std::unique_ptr<PriorityService> root = ready_service();
    std::unique_ptr<PriorityService> middle = service(true);
    ThreeLevels() {
        put_tree(*middle);
        middle->begin_backlog();
        middle->end_backlog(at(0));
        root->apply(submitted(middle_job, 80, owner));
        root->apply(eligible(middle_job, 80));
        root->apply(started(middle_job, 90, 20));
        middle->sends().uplink().queue().attached(root->attach_child(middle_job, "middle", 1, at(90)));
        begin_life(*middle, first_life, 100, owner);
        middle->attach_child(first_life, "one", 1, at(100));
        middle->report(first_life, 1, {TwoLives::record(true, 1, 110)}, at(111));
        tell_root();
        middle->apply(freed(first_life, 150));
        tell_root();
        begin_life(*middle, second_life, 200, owner);
        middle->attach_child(second_life, "one", 2, at(200));
    }
    void tell_root() {
        while (const auto batch = middle->sends().uplink().queue().next()) {
            middle->sends().uplink().acknowledged(root->report(middle_job, batch->first_seq, batch->records, at(300)));
        }
    }
    SignedCoreMicros alice_us(const PriorityService& s) const {
        return charged(s, "physics/lattice/@alice", end_of_test);
    }
};

}  // namespace

// Mutant: modules/job-priority/charges/child_lives.cpp: uplink_.record(named_above(*life, record)); =>
TEST_CASE("lives: the instances above learn what the next life says of what was open in the one before") {
    for (const double end : {120., 150.}) {
        ThreeLevels levels;
        CHECK(levels.alice_us(*levels.root) == 160'000'000);
        levels.middle->report(second_life, 2, {TwoLives::record(false, 1, end)}, at(300));
        levels.tell_root();
        CHECK(levels.alice_us(*levels.middle) == static_cast<SignedCoreMicros>((end - 110) * 4e6));
        CHECK(levels.alice_us(*levels.root) == levels.alice_us(*levels.middle));
    }
}

TEST_CASE("lives: the instances above learn of a job of which the life before had not told yet") {
    ThreeLevels levels;
    levels.middle->report(
        second_life, 2,
        {TwoLives::record(true, 2, 120), TwoLives::record(false, 1, 130), TwoLives::record(false, 2, 140)}, at(300));
    levels.tell_root();
    CHECK(levels.alice_us(*levels.middle) == (80 + 80) * 1'000'000);
    CHECK(levels.alice_us(*levels.root) == (80 + 80) * 1'000'000);
}

TEST_CASE("lives: the parent may have been restarted between the two") {
    TwoLives lives;
    MemoryStore store;
    store.apply(lives.s->take_batch());
    auto again = service();
    REQUIRE(again->restore(store.saved(), at(205)));
    lives.s = std::move(again);
    lives.s->begin_backlog();
    lives.s->add_backlog(
        {submitted(second_life, 199, owner), eligible(second_life, 199), started(second_life, 200, 10)});
    lives.s->end_backlog(at(206));
    lives.attach("one", 2);
    lives.report(2, {TwoLives::record(false, 1, 120)});
    CHECK(lives.alice_us() == 40'000'000);
    CHECK(lives.idle_us() == second_life_us + 460'000'000);
}
