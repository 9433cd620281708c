// SPDX-License-Identifier: LGPL-3.0-only
#include "libfairshare/usage/counted_usage.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "t/unit/draws.hpp"
#include "t/unit/libfairshare/support.hpp"

using namespace weir;
using namespace weir::testing;
using namespace std::chrono_literals;

namespace {

ShareTreePtr tree() {
    return tree_ptr_of({{"a", 1}, {"a/@x", 1}, {"a/@y", 3}, {"b", 1}, {"b/@z", 1}, {"b/@*", 1}});
}
NodeId at_path(const CountedUsage& usage, const char* path) {
    return usage.tree().find(path).value();
}

UsageRules half_life_rules(Duration half_life = 1h) {
    UsageRules rules;
    rules.half_life = half_life;
    rules.unit = 1000;
    return rules;
}
UsageRules window_rules() {
    UsageRules rules;
    rules.decay = DecayKind::window;
    rules.window = {1h, 4, 0.5};
    rules.unit = 1000;
    return rules;
}
UsageRules history_rules() {
    UsageRules rules = half_life_rules();
    rules.history.emplace();
    rules.history->measures_cpu = false;
    rules.history->enable_hist_run_time = true;
    return rules;
}
UsageRules any_rules() {
    UsageRules rules = draw::element_of(std::vector{half_life_rules(), window_rules(), history_rules()});
    if (rules.decay == DecayKind::half_life && draw::arbitrary<bool>()) {
        rules.decay = DecayKind::none;
    }
    if (rules.history) {
        rules.history->run_time_decay = draw::arbitrary<bool>();
        rules.history->counts_jobs = draw::arbitrary<bool>();
        rules.history->counts_cpus = draw::arbitrary<bool>();
    }
    return rules;
}

struct Life {
    CountedJob job;
    Instant ended;
};

std::vector<Life> lives(const CountedUsage& usage, Duration longest = 6h) {
    std::vector<Life> made(static_cast<std::size_t>(draw::in_range(1, 9)));
    for (Life& life : made) {
        const char* path = draw::element("a/@x", "a/@y", "b/@z", "", "/idle");
        const std::int64_t cores = draw::in_range(1, 100);
        ChargedJob& charge = life.job.charge;
        charge.payer = payer_at(usage.tree(), path);
        charge.rate = draw::in_range(0, 200000);
        charge.started = second(draw::in_range(0, 20000));
        charge.requested = std::chrono::seconds(draw::element(0, 1, 600, 40000));
        life.job.holds = {cores, draw::in_range(0, 3), charge.requested};
        life.ended = charge.started + Duration{draw::in_range<std::int64_t>(0, longest.count())};
    }
    std::sort(made.begin(), made.end(),
              [](const Life& a, const Life& b) { return a.job.charge.started < b.job.charge.started; });
    return made;
}

/// Both kinds of reading, of every node.
struct Reading {
    UsageSnapshot usage;
    std::vector<DynamicUse> use;
    bool operator==(const Reading& other) const {
        return usage.usage == other.usage.usage && usage.unassociated == other.usage.unassociated &&
               usage.idle == other.usage.idle && use == other.use;
    }
};
Reading reading(const CountedUsage& usage, Instant now) {
    Reading made;
    usage.snapshot(now, made.usage);
    if (usage.rules().history) {
        usage.use(now, made.use);
    }
    return made;
}

/// Events in order of time: index of the life, and whether it is its end.
std::vector<std::pair<std::size_t, bool>> in_order(const std::vector<Life>& lives) {
    std::vector<std::pair<std::size_t, bool>> order;
    for (std::size_t i = 0; i < lives.size(); ++i) {
        order.emplace_back(i, false);
        order.emplace_back(i, true);
    }
    std::stable_sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
        const auto when = [&](const auto& e) {
            return e.second ? lives[e.first].ended : lives[e.first].job.charge.started;
        };
        return when(a) < when(b);
    });
    return order;
}
void tell(CountedUsage& usage, const std::vector<Life>& lives, std::pair<std::size_t, bool> event) {
    const Life& life = lives[event.first];
    if (event.second) {
        usage.end(life.job, life.ended);
    } else {
        usage.start(life.job);
    }
}

double of(const CountedUsage& usage, const char* path, Instant now) {
    return core_seconds(reading(usage, now).usage.usage.at(at_path(usage, path).value));
}

}  // namespace

TEST_CASE("counted: a rate is in parts of a core, usage in core-seconds") {
    UsageRules rules = half_life_rules();
    rules.decay = DecayKind::none;
    CountedUsage usage(tree(), rules);
    usage.start({{at_path(usage, "a/@x"), 250, second(0), {}}});  // a quarter of a core
    usage.start({{at_path(usage, "a/@y"), 0, second(0), {}}});    // free of charge
    CHECK(of(usage, "a/@x", second(1000)) == 250);
    CHECK(of(usage, "a/@y", second(1000)) == 0);
    CHECK(of(usage, "a", second(1000)) == 250);
}

TEST_CASE("counted: at dispatch the request counts at once, at the end what ran, under either decay") {
    for (const UsageRules& rules : {half_life_rules(), window_rules()}) {
        CountedUsage usage(tree(), rules);
        CountedUsage running(tree(), rules);
        const CountedJob prepaid{{at_path(usage, "a/@x"), 2000, second(0), 30min}};
        CountedJob plain = prepaid;
        plain.charge.requested = {};
        usage.start(prepaid);
        running.start(plain);
        CHECK(of(usage, "a/@x", second(0)) == Approx(3600));
        CHECK(of(running, "a/@x", second(0)) == 0);
        usage.end(prepaid, second(60));
        running.end(plain, second(60));
        CHECK(of(usage, "a/@x", second(60)) == Approx(of(running, "a/@x", second(60))).margin(1e-3));
    }
}

TEST_CASE("counted: other rules leave the usage as it is at that instant") {
    const std::vector<UsageRules> all{half_life_rules(), half_life_rules(7h), window_rules()};
    for (const UsageRules& from : all) {
        for (const UsageRules& to : all) {
            CountedUsage usage(tree(), from);
            usage.start({{at_path(usage, "a/@x"), 3000, second(0), {}}});
            const CountedJob over{{at_path(usage, "b/@z"), 5000, second(0), {}}};
            usage.start(over);
            usage.end(over, second(100));
            const double x = of(usage, "a/@x", second(1800));
            const double z = of(usage, "b/@z", second(1800));
            usage.set_rules(to, {}, second(1800));
            CHECK(usage.rules() == to);
            // A new window deals out what an old one held: the very weights differ, so what is worth is not the same.
            if (from.decay == to.decay || to.decay != DecayKind::window) {
                CHECK(of(usage, "a/@x", second(1800)) == Approx(x));
                CHECK(of(usage, "b/@z", second(1800)) == Approx(z));
            }
            CHECK(of(usage, "a/@x", second(1801)) > of(usage, "a/@x", second(1800)));  // it runs on
        }
    }
}

// Mutant: libfairshare/usage/counted_usage.cpp: outside_payers.end(), move => outside_payers.begin(), move
TEST_CASE("counted: a job outside the tree that runs through a change of rules is charged until its end") {
    for (const NodeId payer : {unassociated, idle}) {
        for (const Duration requested : {Duration{}, Duration{2h}}) {
            CountedUsage usage(tree(), window_rules());
            const CountedJob job{{payer, 1000, second(0), requested}};
            usage.start(job);
            usage.set_rules(half_life_rules(), std::array{job}, second(100));
            usage.end(job, second(200));
            UsageSnapshot then;
            UsageSnapshot later;
            usage.snapshot(second(200), then);
            usage.snapshot(second(5000), later);
            const CoreMicros UsageSnapshot::*outside =
                payer == idle ? &UsageSnapshot::idle : &UsageSnapshot::unassociated;
            CHECK(core_seconds(then.*outside) > 190);
            CHECK(later.*outside < then.*outside);
            CHECK(usage.ledger()->rate(payer) == 0);
        }
    }
}

TEST_CASE("counted: windows keep what nobody and what idle partitions use") {
    CountedUsage usage(tree(), window_rules());
    const CountedJob nobodys{{unassociated, 2000, second(0), {}}};
    const CountedJob lent{{idle, 3000, second(0), 1h}};
    usage.start(nobodys);
    usage.start(lent);
    usage.start({{at_path(usage, "a/@x"), 1000, second(0), {}}});
    UsageSnapshot then;
    usage.snapshot(second(100), then);
    CHECK(core_seconds(then.unassociated) == 200);
    CHECK(core_seconds(then.idle) == 3 * 3600);
    usage.end(lent, second(100));
    usage.rebind(tree_ptr_of({{"b", 1}, {"b/@z", 1}}), second(100));  // x is gone: his job runs on as nobody's
    usage.snapshot(second(200), then);
    CHECK(core_seconds(then.unassociated) == 400 + 200);
    CHECK(core_seconds(then.idle) == 300);
}

TEST_CASE("counted: windows of a state without the payers outside the tree go on with the jobs that run") {
    CountedUsage usage(tree(), window_rules());
    const CountedJob job{{idle, 2000, second(0), {}}};
    usage.start(job);
    CountedUsageState state = usage.save();
    std::erase_if(state.usage, [](const PayerNumbers& payer) { return payer.path == "/idle"; });
    CountedUsage old = CountedUsage::restore(tree(), state).value();
    CHECK(old.settle_outside(std::array{job}, second(100)));
    CHECK_FALSE(old.settle_outside(std::array{job}, second(100)));
    old.end(job, second(150));
    UsageSnapshot then;
    old.snapshot(second(1000), then);
    CHECK(core_seconds(then.idle) == 100);
}

TEST_CASE("counted: what was charged at dispatch is trued up across a change of rules") {
    CountedUsage usage(tree(), half_life_rules());
    CountedUsage same(tree(), half_life_rules(9h));
    const CountedJob job{{at_path(usage, "a/@x"), 1000, second(0), 10h}};
    usage.start(job);
    same.start(job);
    usage.set_rules(half_life_rules(9h), std::array{job}, second(3600));
    usage.end(job, second(7200));
    same.end(job, second(7200));
    CHECK(of(usage, "a/@x", second(7200)) == Approx(of(same, "a/@x", second(7200))).margin(1e-3));
}

TEST_CASE("counted: taking over whole cores keeps what was used and goes on with what runs") {
    for (const UsageRules& rules : {half_life_rules(), window_rules(), history_rules()}) {
        UsageLedger cores(tree(), 1h);
        CountedUsage usage(cores.tree_ptr(), rules);
        const NodeId x = at_path(usage, "a/@x");
        cores.charge(x, 4, second(0), second(900));
        cores.start(x, 2, second(1000));
        const CountedJob running{{x, 500, second(1000), {}}, {2, 0, {}}};
        const double before = core_seconds(cores.usage(x, second(2000)));
        usage.take_over(cores, std::array{running}, second(2000));
        CHECK(of(usage, "a/@x", second(2000)) == Approx(before));
        if (rules.decay == DecayKind::window) {
            CHECK(of(usage, "a/@x", second(2100)) == Approx(before + 50));
        }
        if (rules.history) {
            std::vector<DynamicUse> use;
            usage.use(second(2000), use);
            CHECK(use.at(x.value).job_slots == 2);
            CHECK(use.at(x.value).run_time_h == Approx(2 * 1000 / 3600.));
            CHECK(use.at(x.value).cpu_time_h * 3600 > before * 0.99);
        }
        usage.end(running, second(3000));
        CHECK(of(usage, "a/@x", second(3000)) <= of(usage, "a/@x", second(2999)) + 1);
    }
}

TEST_CASE("counted: a history that begins at a change of rules has what was used before") {
    for (UsageRules rules : {half_life_rules(), window_rules()}) {
        CountedUsage usage(tree(), rules);
        const NodeId x = at_path(usage, "a/@x");
        const NodeId y = at_path(usage, "a/@y");
        const CountedJob ended{{x, 4000, second(0), {}}, {4, 0, {}}};
        const CountedJob running{{x, 2000, second(1000), {}}, {2, 0, {}}};
        const CountedJob ended_of_y{{y, 1000, second(0), 1h}, {1, 0, 1h}};
        const CountedJob prepaid{{y, 2000, second(1000), 2h}, {2, 0, 2h}};
        usage.start(ended);
        usage.start(ended_of_y);
        usage.end(ended, second(900));
        usage.end(ended_of_y, second(900));
        const double before_of_y = of(usage, "a/@y", second(2000));
        usage.start(running);
        usage.start(prepaid);
        const double before = of(usage, "a/@x", second(2000));
        rules.history = history_rules().history;
        rules.history->hist_hours = 0;
        usage.set_rules(rules, std::array{running, prepaid}, second(2000));
        CHECK(of(usage, "a/@x", second(2000)) == Approx(before));
        std::vector<DynamicUse> use;
        usage.use(second(2000), use);
        CHECK(use.at(x.value).cpu_time_h * 3600 == Approx(before));
        CHECK(use.at(x.value).run_time_h * 3600 == Approx(2000));
        CHECK(use.at(x.value).hist_run_time_h * 3600 == Approx(before - 2000));
        CHECK(use.at(y.value).hist_run_time_h * 3600 == Approx(before_of_y));
        CHECK(use.at(y.value).cpu_time_h * 3600 == Approx(before_of_y + 2000));
        CHECK(use.at(at_path(usage, "a").value).job_slots == 4);
        usage.end(running, second(3000));
        usage.end(prepaid, second(3000));
        usage.use(second(3000), use);
        CHECK(use.at(x.value).cpu_time_h * 3600 == Approx(before + 2000));
        CHECK(use.at(y.value).hist_run_time_h * 3600 == Approx(before_of_y + 4000));
    }
}

TEST_CASE("counted: LSF's CPU time of a running job grows without being told") {
    UsageRules rules = history_rules();
    rules.history->hist_hours = 0;
    CountedUsage usage(tree(), rules);
    const CountedJob job{{at_path(usage, "a/@x"), 1000, second(0), {}}, {4, 1, 2h}};
    usage.start(job);
    std::vector<DynamicUse> use;
    usage.use(second(1800), use);
    const auto x = at_path(usage, "a/@x").value;
    CHECK(use.at(x).cpu_time_h == Approx(2));
    CHECK(use.at(x).run_time_h == Approx(2));
    CHECK(use.at(x).committed_run_time_h == Approx(8));
    CHECK(use.at(x).gpu_run_time_h == Approx(0.5));
    usage.end(job, second(3600));
    usage.use(second(7200), use);
    CHECK(use.at(x).cpu_time_h == Approx(4));
    CHECK(use.at(x).run_time_h == 0);
    CHECK(use.at(x).hist_run_time_h == Approx(4));
    CHECK(use.at(x).committed_run_time_h == 0);
}

TEST_CASE("counted: rules that cannot be are refused") {
    CHECK_FALSE(half_life_rules(0s).validate());
    UsageRules rules = window_rules();
    rules.window.depth = 0;
    CHECK_FALSE(rules.validate());
    rules = half_life_rules();
    rules.unit = 0;
    CHECK_FALSE(rules.validate());
    rules = history_rules();
    rules.history->hist_hours = -1;
    CHECK_FALSE(rules.validate());
    CHECK_FALSE(CountedUsage::restore(tree(), {}));
    CountedUsageState state = CountedUsage(tree(), history_rules()).save();
    for (std::size_t i = 0; i < state.rules.size(); ++i) {
        for (const std::int64_t value : {std::numeric_limits<std::int64_t>::min(), std::int64_t{-1}, std::int64_t{3},
                                         std::numeric_limits<std::int64_t>::max()}) {
            CountedUsageState bad = state;
            bad.rules[i] = value;
            bad.usage.push_back({"a/@x", {{0, 1}}});
            if (const auto restored = CountedUsage::restore(tree(), bad)) {
                static_cast<void>(reading(*restored, second(0)));  // a flag may have been any number
                CHECK(restored->rules().validate());
            }
        }
    }
}

// Kills: a save without LSF's frame; one without the last reset; a window that is told its rate twice.
TEST_CASE("counted: save, load, go on equals going on") {
    draw::property("to the last bit", [] {
        CountedUsage usage(tree(), any_rules());
        const auto all = lives(usage);
        const auto order = in_order(all);
        const auto cut = draw::in_range<std::size_t>(0, order.size() + 1);
        for (std::size_t i = 0; i < cut; ++i) {
            tell(usage, all, order[i]);
        }
        if (draw::arbitrary<bool>()) {
            usage.reset(second(20000));
        }
        auto again = CountedUsage::restore(tree(), usage.save());
        RC_ASSERT(again.has_value());
        RC_ASSERT(again->rules() == usage.rules());
        for (std::size_t i = cut; i < order.size(); ++i) {
            tell(usage, all, order[i]);
            tell(*again, all, order[i]);
        }
        RC_ASSERT(reading(*again, second(50000)) == reading(usage, second(50000)));
        RC_ASSERT(again->save() == usage.save());
    });
}

// Kills: accounts that are divided by the unit instead of summed.
TEST_CASE("counted: a node's usage is the sum of its children's, to the digit") {
    draw::property("conservation", [] {
        CountedUsage usage(tree(), any_rules());
        const auto all = lives(usage);
        for (const auto& event : in_order(all)) {
            tell(usage, all, event);
        }
        const Reading made = reading(usage, second(45000));
        std::vector<CoreMicros> sums(usage.tree().size(), 0);
        for (std::uint32_t i = 1; i < usage.tree().size(); ++i) {
            sums[usage.tree().parent(NodeId{i}).value] += made.usage.usage[i];
        }
        for (std::uint32_t i = 0; i < usage.tree().size(); ++i) {
            RC_ASSERT(usage.tree().is_association(NodeId{i}) || made.usage.usage[i] == sums[i]);
        }
    });
}

// Kills: a loan whose rate is not given back; slots that count a loan as a job.
TEST_CASE("counted: what a job lends, others have: nothing is made or lost") {
    draw::property("lent and taken", [] {
        CountedUsage usage(tree(), any_rules());
        CountedUsage alone(tree(), usage.rules());
        const NodeId x = at_path(usage, "a/@x");
        const CountedJob outer{{x, 4000, second(0), {}}, {4, 0, {}}};
        const Duration begun = std::chrono::seconds(draw::in_range(0, 5000));
        const Duration over = begun + std::chrono::seconds(draw::in_range(0, 5000));
        const CountedJob inner{{at_path(usage, "a/@y"), 1500, second(0) + begun, {}}, {1, 0, {}}};
        const CountedJob loan{{x, -1500, second(0) + begun, {}}, {-1, 0, {}}};
        usage.start(outer);
        alone.start(outer);
        usage.start(loan);
        usage.start(inner);
        if (usage.rules().history) {
            std::vector<DynamicUse> use;
            usage.use(second(0) + over, use);
            RC_ASSERT(use.at(0).job_slots == (usage.rules().history->counts_jobs ? 2 : 4));
        }
        usage.end(loan, second(0) + over);
        usage.end(inner, second(0) + over);
        usage.end(outer, second(10000));
        alone.end(outer, second(10000));
        const double with = of(usage, "a", second(10000));
        RC_ASSERT(std::abs(with - of(alone, "a", second(10000))) < 1e-3);
        if (usage.rules().history) {
            std::vector<DynamicUse> use;
            usage.use(second(10000), use);
            RC_ASSERT(use.at(x.value).job_slots == 0);
            RC_ASSERT(use.at(0).job_slots == 0);
        }
    });
}

// Kills: an extended tree whose windows or histories are not extended; a leaf that moves without its history.
TEST_CASE("counted: a tree that grows or moves its leaves keeps their usage") {
    draw::property("by path", [] {
        CountedUsage usage(tree(), any_rules());
        const auto all = lives(usage);
        for (const auto& event : in_order(all)) {
            tell(usage, all, event);
        }
        const Instant now = second(45000);
        const Reading before = reading(usage, now);
        const ShareTreePtr old = tree();
        auto longer = usage.tree().with_member(usage.tree().find("b").value(), "w");
        RC_ASSERT(longer.has_value());
        usage.extend(std::make_shared<const ShareTree>(std::move(longer->first)));
        const Reading extended = reading(usage, now);
        const auto moved = tree_ptr_of({{"b", 1}, {"b/@z", 1}, {"c", 1}, {"a", 1}, {"a/@y", 1}, {"a/@x", 2}});
        usage.rebind(moved, now);
        const Reading rebound = reading(usage, now);
        for (const char* path : {"a/@x", "a/@y", "b/@z"}) {
            const auto from = old->find(path)->value;
            const auto to = moved->find(path)->value;
            RC_ASSERT(extended.usage.usage.at(from) == before.usage.usage.at(from));
            RC_ASSERT(rebound.usage.usage.at(to) == before.usage.usage.at(from));
            RC_ASSERT((before.use.empty() || rebound.use.at(to) == before.use.at(from)));
        }
    });
}
