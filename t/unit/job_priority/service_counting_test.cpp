// SPDX-License-Identifier: LGPL-3.0-only
// Usage as a site chooses to count it: costs, charges at dispatch, windows; and a change of that while jobs run.
#include <catch2/catch.hpp>

#include "modules/job-priority/state/memory_store.hpp"
#include "t/unit/job_priority/support.hpp"

using namespace weir;
using namespace weir::priority;
using namespace weir::priority::testing;
using namespace std::chrono_literals;

namespace {

struct Asked {
    std::string qos;
    Duration wall_time = Duration::max();
    std::map<std::string, double> amounts{};
    std::string account{};
};

void submit_and_start(PriorityService& s, FluxJobId id, std::uint32_t user, double t, std::int64_t cores,
                      const Asked& asked = {}) {
    JobEvent event = submitted(id, t, user);
    JobRequest& request = std::get<SubmitEvent>(event.what).request;
    request.qos = asked.qos;
    request.wall_time = asked.wall_time;
    request.amounts = asked.amounts;
    request.account = asked.account;
    s.apply(event);
    s.apply(eligible(id, t));
    s.apply(started(id, t, cores));
}

std::unique_ptr<PriorityService> counting_service(const Settings& with) {
    auto s = service(false, with);
    put_tree(*s);
    s->begin_backlog();
    s->end_backlog(at(0));
    return s;
}

double usage(const PriorityService& s, const std::string& path, double t) {
    const Measured measured = measured_at(s, at(t));
    return core_seconds(measured.usage.usage.at(path.empty() ? 0 : s.accounting().tree().find(path)->value));
}

double exact(const PriorityService& s, const std::string& path, double t) {
    return static_cast<double>(charged(s, path, t)) / 1e6;
}

Settings without_decay() {
    Settings with = settings();
    with.decay = DecayKind::none;
    return with;
}

}  // namespace

TEST_CASE("counting: costs go by weights, QoS and GPUs; what was delivered stays exact") {
    Settings with = without_decay();
    with.billing.weights = BillingWeights::parse("cpu=1,gres/gpu=10,mem=0.5G").value();
    with.billing.factors.qos["scavenger"] = 0;
    auto s = counting_service(with);
    submit_and_start(*s, 1, alice, 0, 4, {"", Duration::max(), {{"gpus", 2}, {"memory", 8}}});
    submit_and_start(*s, 2, bob, 0, 4, {"scavenger"});
    CHECK(usage(*s, "physics/lattice/@alice", 100) == Approx(100 * (4 + 20 + 4)));
    CHECK(usage(*s, "bio/@bob", 100) == 0);
    CHECK(exact(*s, "bio/@bob", 100) == 400);
    CHECK(exact(*s, "physics", 100) == 400);
    s->apply(freed(1, 100));
    s->apply(freed(2, 100));
    CHECK(usage(*s, "", 200) == Approx(2800));
}

TEST_CASE("counting: at dispatch a user falls behind at once, and is trued up at the end") {
    Settings with = without_decay();
    with.billing.charging = Charging::at_dispatch;
    auto s = counting_service(with);
    submit_and_start(*s, 1, alice, 0, 2, {"", 1h});
    CHECK(usage(*s, "physics/lattice/@alice", 0) == 7200);
    submit_and_start(*s, 2, bob, 0, 2);  // asks for no time: as it runs
    CHECK(usage(*s, "bio/@bob", 0) == 0);
    CHECK(usage(*s, "bio/@bob", 50) == 100);
    s->apply(freed(1, 60));
    CHECK(usage(*s, "physics/lattice/@alice", 60) == 120);
}

TEST_CASE("counting: a window forgets what is older than its depth") {
    Settings with = settings();
    with.decay = DecayKind::window;
    with.window = {1h, 2, 0.5};
    auto s = counting_service(with);
    submit_and_start(*s, 1, alice, 0, 1);
    s->apply(freed(1, 600));
    CHECK(usage(*s, "physics", 1800) == 600);
    CHECK(usage(*s, "physics", 3700) == 300);
    CHECK(usage(*s, "physics", 7300) == 0);
    CHECK(exact(*s, "physics", 7300) == 600);
}

TEST_CASE("counting: another way to count takes over what was used, while jobs run") {
    auto s = counting_service(without_decay());
    submit_and_start(*s, 1, alice, 0, 2, {"", 1h});
    Settings billed = without_decay();
    billed.billing.charging = Charging::at_dispatch;
    billed.billing.factors.qos["high"] = 3;
    s->configure(billed, at(100));
    CHECK(usage(*s, "physics", 100) == 200);
    CHECK(usage(*s, "physics", 150) == 300);  // was charged as it runs, and is so on
    submit_and_start(*s, 2, bob, 200, 1, {"high", 1000s});
    CHECK(usage(*s, "bio", 200) == 3000);
    s->configure(without_decay(), at(250));
    CHECK(usage(*s, "bio", 300) == 100);  // core-seconds again
    s->configure(billed, at(300));
    CHECK(usage(*s, "bio", 300) == 100);
    s->apply(freed(2, 400));
    CHECK(usage(*s, "bio", 400) == 100 + 300);
    Settings windowed = billed;
    windowed.decay = DecayKind::window;
    s->configure(windowed, at(500));
    CHECK(usage(*s, "bio", 500) == 400);
    CHECK(usage(*s, "physics", 500) == 1000);
    s->apply(freed(1, 600));
    CHECK(usage(*s, "physics", 600) == 1200);
    CHECK(exact(*s, "physics", 600) == 1200);
    CHECK(exact(*s, "bio", 600) == 200);
}

TEST_CASE("counting: a file by other rules is taken over at start") {
    MemoryStore store;
    Settings billed = without_decay();
    billed.billing.factors.qos["high"] = 3;
    {
        auto s = counting_service(billed);
        submit_and_start(*s, 1, bob, 0, 1, {"high"});
        store.apply(s->take_batch());
    }
    const auto again = [&store](const Settings& with) {
        auto s = service(false, with);
        REQUIRE(s->restore(store.saved(), at(100)));
        return s;
    };
    CHECK(usage(*again(billed), "bio", 100) == 300);
    CHECK(usage(*again(without_decay()), "bio", 100) == 100);
    Settings windowed = billed;
    windowed.decay = DecayKind::window;
    auto s = again(windowed);
    CHECK(usage(*s, "bio", 100) == 300);
    CHECK(usage(*s, "bio", 110) == 330);
    store.apply(s->take_batch());
    CHECK(usage(*again(windowed), "bio", 110) == 330);
}

TEST_CASE("counting: an edited tree moves usage, and a member by @* gets a leaf") {
    Settings with = settings();
    with.decay = DecayKind::window;
    auto s = counting_service(with);
    submit_and_start(*s, 1, carol, 0, 1);
    CHECK(usage(*s, "bio/@carol", 100) == 100);
    put_tree(*s, "\"bio\" = 1\n\"bio/@bob\" = 1\n\"bio/@carol\" = 4\n", 100);
    CHECK(usage(*s, "bio/@carol", 110) == 110);
    put_tree(*s, "\"bio\" = 1\n\"bio/@bob\" = 1\n", 200);
    CHECK(usage(*s, "bio", 250) == 0);
    s->apply(freed(1, 300));
    CHECK(usage(*s, "", 300) == 0);
    CHECK(exact(*s, "", 300) == 300);
}

// Mutant: modules/job-priority/charges/accounting.cpp: committed == Instant{} ? now : std::min(committed, now) => now
TEST_CASE("counting: another half-life that is found at a start changes no charge of a job that ended before") {
    Settings with = settings();
    with.decay = GENERATE(DecayKind::half_life, DecayKind::window);
    with.half_life = 1h;
    with.window.interval = 1h;
    auto s = counting_service(with);
    submit_and_start(*s, 1, alice, 0, 4);
    s->pass(at(3600));
    MemoryStore store;
    store.apply(s->take_batch());

    Settings longer = with;
    longer.half_life = 48h;
    longer.window.interval = 48h;
    auto again = service(false, longer);
    REQUIRE(again->restore(store.saved(), at(20 * 3600)));
    again->begin_backlog();
    submit_and_start(*again, 1, alice, 0, 4);
    again->apply(freed(1, 7200));
    again->end_backlog(at(20 * 3600));
    s->configure(longer, at(3600));  // as if it had been there
    s->apply(freed(1, 7200));
    const double all = usage(*s, "physics/lattice/@alice", 20 * 3600);
    CHECK(all > 4 * 3600);
    CHECK(usage(*again, "physics/lattice/@alice", 20 * 3600) == Approx(all).epsilon(0.001));
}

TEST_CASE("counting: what a child's users use costs the part of the child's job that they have") {
    Settings with = without_decay();
    with.billing.factors.qos["half"] = 0.5;
    auto s = counting_service(with);
    submit_and_start(*s, 9, owner, 0, 10, {"half", Duration::max(), {}, "bio"});
    s->attach_child(9, "x", 1, at(0));
    s->report(9, 1, {UplinkRow{true, 1, "alice", "", 4, at(100)}}, at(100));
    CHECK(usage(*s, "physics", 200) == 200);  // 4 cores, 100 s, half price
    s->report(9, 2, {UplinkRow{false, 1, "alice", "", 4, at(300)}}, at(300));
    CHECK(usage(*s, "physics", 1000) == 400);
    s->apply(freed(9, 1000));
    CHECK(usage(*s, "bio", 1000) == 5000 - 400);  // the rest is its owner's
    CHECK(exact(*s, "physics", 1000) == 800);
}

TEST_CASE("counting: what a partition does not use costs nobody, however the site counts") {
    for (const DecayKind decay : {DecayKind::half_life, DecayKind::window, DecayKind::none}) {
        Settings with = settings();
        with.decay = decay;
        with.billing.charging = Charging::at_dispatch;
        with.billing.factors.qos["half"] = 0.5;
        auto s = counting_service(with);
        submit_and_start(*s, 9, owner, 0, 10, {"half", 1h});
        CHECK(usage(*s, "bio", 0) == Approx(18000).epsilon(0.01));  // until it says what it is, a job of its owner's
        s->attach_child(9, "x", 1, at(0));
        s->report(9, 1, {UplinkRow{true, 1, "alice", "", 4, at(100), 0, {.rate = 2000}}}, at(100));
        CHECK(usage(*s, "", 200) == Approx(200).epsilon(0.01));
        CHECK(s->accounting().ledger().charged(idle, at(200)) == 1'600'000'000);
        s->apply(freed(9, 300));
        CHECK(usage(*s, "", 300) == Approx(400).epsilon(0.01));
        CHECK(exact(*s, "physics", 300) == 800);
    }
}
