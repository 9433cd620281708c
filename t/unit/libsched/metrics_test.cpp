// SPDX-License-Identifier: LGPL-3.0-only
// Metrics of a replay by hand and against a second-by-second count.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "libsched/sim/fair_division.hpp"
#include "libsched/sim/fair_start.hpp"
#include "libsched/sim/fairness.hpp"
#include "libsched/sim/simulate.hpp"
#include "libsched/sim/usage_history.hpp"
#include "t/unit/draws.hpp"
#include "t/unit/libsched/replays.hpp"
#include "t/unit/libsched/workload.hpp"

using namespace weir;
using namespace std::chrono_literals;

namespace {

Outcome ran(std::int64_t submit, std::int64_t start, std::int64_t run, std::uint32_t cores, std::uint32_t user = 1) {
    Outcome outcome;
    outcome.job = SimJob{0, test::at(submit), test::secs(run), test::secs(run), cores, user};
    outcome.start = test::at(start);
    return outcome;
}

/// Four cores: two users, the second waits for the first.
const std::vector<Outcome> two_users = {ran(0, 0, 10, 4, 1), ran(2, 10, 30, 2, 2), ran(5, 10, 10, 1, 1)};

std::int64_t seconds(Instant at) {
    return at.time_since_epoch().count() / 1'000'000;
}

std::vector<SimJob> any_log() {
    auto log = test::any_workload(4);
    log.push_back(SimJob{0, log.empty() ? test::at(0) : log.back().submit, test::secs(5), test::secs(6), 2});
    for (std::size_t i = 0; i < log.size(); ++i) {
        log[i].user = static_cast<std::uint32_t>(i * 7 % 3);
    }
    return log;
}

std::vector<Outcome> replayed(const std::vector<SimJob>& log, const Policy& policy) {
    const auto starts = simulate(log, 4, policy);
    std::vector<Outcome> outcomes;
    for (std::size_t i = 0; i < log.size(); ++i) {
        Outcome outcome;
        outcome.job = log[i];
        outcome.start = starts.value()[i];
        outcomes.push_back(outcome);
    }
    return outcomes;
}

}  // namespace

TEST_CASE("metrics: spread takes the value at floor(q n)") {
    CHECK(spread_of({}).max == 0);
    const Spread two = spread_of({3, 1});
    CHECK(two.median == 3);
    CHECK(two.mean == 2);
    std::vector<double> hundred;
    for (int i = 100; i > 0; --i) {
        hundred.push_back(i);
    }
    CHECK(spread_of(hundred).p95 == 96);
    CHECK(spread_of(hundred).p99 == 100);
    CHECK(spread_of(hundred).median == 51);
}

TEST_CASE("metrics: Jain and Gini at their ends") {
    CHECK(jain_index({}) == 1);
    CHECK(jain_index({2, 2, 2}) == Approx(1));
    CHECK(jain_index({1, 0, 0, 0}) == Approx(.25));
    CHECK(gini_index({5, 5}) == Approx(0));
    CHECK(gini_index({0, 0, 0, 8}) == Approx(.75));
    CHECK(gini_index({8, 0, 0, 0}) == Approx(.75));
    CHECK(gini_index({0, 0}) == 0);
}

TEST_CASE("metrics: a slowdown takes a short job's run as ten seconds, and is 1 at least") {
    CHECK(bounded_slowdown(ran(0, 19, 1, 1)) == Approx(2));
    CHECK(bounded_slowdown(ran(0, 19, 19, 1)) == Approx(2));
    CHECK(bounded_slowdown(ran(0, 5, 1, 1)) == 1);
}

TEST_CASE("metrics: who waits longer than the limit is starved; jobs of no time divide by nothing") {
    const std::int64_t limit = JobMetricsSum::starved_after.count() / 1'000'000;
    JobMetricsSum sum(4);
    sum.add(ran(0, limit, 0, 1));
    sum.add(ran(0, limit + 1, 0, 1));
    CHECK(sum.metrics().starved == 1);
    CHECK(sum.metrics().wait_area_weighted_s == 0);
    CHECK(machine_metrics(Timeline(std::vector<Outcome>{ran(5, 5, 0, 1)}), 4).utilization == 0);
}

TEST_CASE("metrics: three jobs by hand") {
    JobMetricsSum sum(4);
    for (const Outcome& outcome : two_users) {
        sum.add(outcome);
    }
    const JobMetrics jobs = sum.metrics();
    CHECK(jobs.wait_s.mean == Approx((0 + 8 + 5) / 3.));
    CHECK(jobs.wait_s.max == 8);
    CHECK(jobs.slowdown.max == Approx(1.5));
    CHECK(jobs.wait_area_weighted_s == Approx((60 * 8 + 10 * 5) / 110.));
    CHECK(jobs.response_area_weighted_s == Approx((40 * 10 + 60 * 38 + 10 * 15) / 110.));
    const double specific[] = {4 * 100., 2 * (38 * 38 - 64.), 225. - 25};
    CHECK(jobs.response_specific_weighted_s ==
          Approx((specific[0] * 10 + specific[1] * 38 + specific[2] * 15) / (specific[0] + specific[1] + specific[2])));
    CHECK(jobs.large_jobs == 3);
    const MachineMetrics machine = machine_metrics(Timeline(two_users), 4);
    CHECK(machine.makespan == test::secs(40));
    CHECK(machine.utilization == Approx(110 / 160.));
    CHECK(machine.utilization_to_last_submit == Approx(1));
    CHECK(machine.capacity_lost == 0);
    const auto history = machine_history(Timeline(two_users), 4);
    REQUIRE(history.size() == 4);
    CHECK(history[0].busy == Approx(4));
    CHECK(history[0].waiting == Approx((8 * 2 + 5) / 10.));
    CHECK(history[1].busy == Approx(3));
    CHECK(history[3].busy == Approx(2));
}

TEST_CASE("metrics: what stands idle although somebody waits is lost capacity") {
    // Three of four cores idle for ten seconds; two wait.
    const std::vector<Outcome> outcomes = {ran(0, 0, 10, 1), ran(0, 10, 10, 2)};
    CHECK(machine_metrics(Timeline(outcomes), 4).capacity_lost == Approx(20. / 80));
}

TEST_CASE("metrics: nothing ran") {
    const std::vector<Outcome> none;
    CHECK(machine_metrics(Timeline(none), 4).utilization == 0);
    CHECK(machine_history(Timeline(none), 3).empty());
    CHECK(fairness_metrics(Timeline(none), parties_by_user({}), 4).levels.empty());
    CHECK(JobMetricsSum(4).metrics().wait_s.mean == 0);
}

// Kills: a division that stops at the first who asks for little; shares taken of all instead of those who are left.
TEST_CASE("fair division: all is dealt out, nobody gets more than he asks for, nobody envies by shares") {
    draw::property("water-filling", [] {
        PartyTree tree;
        const auto parties = draw::in_range(1U, 8U);
        for (std::uint32_t i = 1; i <= parties; ++i) {
            tree.parties.push_back({"p", draw::in_range(0U, i), draw::in_range(1U, 5U)});
        }
        std::vector<bool> is_leaf(parties + 1, true);
        for (std::uint32_t i = 1; i <= parties; ++i) {
            is_leaf[tree.parties[i].parent] = false;
        }
        FairDivision division(tree, 10);
        for (std::uint32_t i = 1; i <= parties; ++i) {
            if (is_leaf[i]) {
                division.ask(i, 3);
                division.divide();
                division.ask(i, draw::in_range(0, 9) - 3);
            }
        }
        division.divide();
        std::vector<double> below(parties + 1);
        for (const std::uint32_t at : division.active()) {
            RC_ASSERT(division.entitled(at) <= static_cast<double>(division.asked(at)) + 1e-9);
            below[tree.parties[at].parent] += at > 0 ? division.entitled(at) : 0;
        }
        for (const std::uint32_t at : division.active()) {
            RC_ASSERT(is_leaf[at] || std::abs(below[at] - division.entitled(at)) < 1e-9);
            for (const std::uint32_t other : division.active()) {
                // Who has not all he asks for has no less a share than any sibling.
                if (at > 0 && other > 0 && tree.parties[at].parent == tree.parties[other].parent &&
                    division.entitled(at) < static_cast<double>(division.asked(at)) - 1e-9) {
                    RC_ASSERT(division.entitled(at) / tree.parties[at].shares >=
                              division.entitled(other) / tree.parties[other].shares - 1e-9);
                }
            }
        }
    });
}

TEST_CASE("fair division: no shares, no entitlement") {
    PartyTree tree;
    tree.parties.push_back({"a", 0, 0});
    tree.parties.push_back({"b", 0, 1});
    FairDivision division(tree, 4);
    division.ask(1, 4);
    division.ask(2, 1);
    division.divide();
    CHECK(division.entitled(1) == 0);
    CHECK(division.entitled(2) == 1);
}

// Kills: a stretch counted twice or not at all; demand without what runs; running cores not given back.
TEST_CASE("fairness: the integrals are those of a count second by second") {
    draw::property("second by second", [] {
        const auto outcomes = replayed(any_log(), Easy{});
        const PartyTree tree = parties_by_user(test::jobs_of(outcomes));
        const FairnessMetrics metrics = fairness_metrics(Timeline(outcomes), tree, 4);
        std::vector<PartyMetrics> counted(tree.parties.size());
        std::int64_t last = 0;
        for (const Outcome& outcome : outcomes) {
            last = std::max(last, seconds(outcome.end()));
        }
        double apart = 0, time = 0;
        for (std::int64_t t = 0; t < last; ++t) {
            FairDivision division(tree, 4);
            for (std::size_t i = 0; i < outcomes.size(); ++i) {
                if (seconds(outcomes[i].job.submit) <= t && t < seconds(outcomes[i].end())) {
                    division.ask(tree.payer[i], outcomes[i].job.cores);
                    division.run(tree.payer[i], seconds(outcomes[i].start) <= t ? outcomes[i].job.cores : 0);
                }
            }
            division.divide();
            double now = 0;
            for (std::uint32_t at = 1; at < tree.parties.size(); ++at) {
                const double due = division.asked(at) > 0 ? division.entitled(at) : 0;
                const auto has = static_cast<double>(division.running(at));
                counted[at].delivered_core_s += has;
                counted[at].allotted_core_s += due;
                counted[at].short_core_s += std::max(0., due - has);
                counted[at].starving_core_s += has < .8 * due ? due : 0;
                now += std::abs(has - due);
            }
            if (division.active().size() >= 3) {  // the root and two
                apart += now / 2 / 4;
                time += 1;
            }
        }
        for (std::size_t at = 1; at < tree.parties.size(); ++at) {
            RC_ASSERT(std::abs(metrics.parties[at].delivered_core_s - counted[at].delivered_core_s) < 1e-6);
            RC_ASSERT(std::abs(metrics.parties[at].allotted_core_s - counted[at].allotted_core_s) < 1e-6);
            RC_ASSERT(std::abs(metrics.parties[at].short_core_s - counted[at].short_core_s) < 1e-6);
            RC_ASSERT(std::abs(metrics.parties[at].starving_core_s - counted[at].starving_core_s) < 1e-6);
        }
        RC_ASSERT(std::abs(metrics.levels[0].deviation - (time > 0 ? apart / time : 0)) < 1e-9);
    });
}

TEST_CASE("fairness: levels of a tree, an account is the sum of its users") {
    PartyTree tree;
    tree.parties.push_back({"physics", 0, 3});
    tree.parties.push_back({"chem", 0, 1});
    tree.parties.push_back({"alice", 1, 1});
    tree.parties.push_back({"bob", 2, 1});
    tree.payer = {3, 4, 3};
    const FairnessMetrics metrics = fairness_metrics(Timeline(two_users), tree, 4);
    REQUIRE(metrics.levels.size() == 2);
    CHECK(tree.entitled()[3] == .75);
    CHECK(metrics.parties[1].delivered_core_s == 50);
    CHECK(metrics.parties[3].delivered_core_s == 50);
    CHECK(metrics.parties[0].jobs == 3);
    // From 2 s to 10 s chem is due one core and has none; from 10 s on everybody has what he asks for.
    CHECK(metrics.parties[2].short_core_s == Approx(8));
    CHECK(metrics.parties[2].starving_longest == test::secs(8));
    CHECK(metrics.levels[0].deviation == Approx(8. / 4 / 18));
    CHECK(metrics.levels[0].deviation == metrics.levels[1].deviation);
}

TEST_CASE("fairness: an equal part of the machine for each job in the system") {
    // 0-2 s: 4; 2-5 s: 2; 5-10 s: 4/3; 10-20 s: 2; 20-40 s: 4.
    const EqualityMetrics metrics = equality_metrics(Timeline(two_users), 4);
    const double deserved[] = {8 + 6 + 20. / 3, 6 + 20. / 3 + 20 + 80, 20. / 3 + 20};
    CHECK(metrics.deserved_core_s == Approx(deserved[0] + deserved[1] + deserved[2]));
    CHECK(metrics.short_jobs == 2);
    CHECK(metrics.short_core_s == Approx(deserved[1] - 60 + deserved[2] - 10));
}

// Kills: those behind the job left in; what has run already not taken from the limit; a job that ends now still there;
// what is overdue expected at another instant by the first reservation than by the others.
TEST_CASE("fair start: the state at a submission gives what a replay without later jobs gives") {
    draw::property("exact equals truncated", [] {
        auto log = any_log();
        const Policy policy =
            draw::element(Policy(Fcfs{}), Policy(Easy{}), Policy(Backfill{2}), Policy(Backfill{Backfill::all}));
        for (SimJob& job : log) {  // some requested nothing, and some run longer than they requested
            const Duration kept = std::max({job.limit, job.run, test::secs(1)});
            job.limit = draw::element(kept, test::secs(1), Duration::max());
        }
        RC_ASSERT(has_exact_fair_starts(policy));
        RC_LOG() << name_of(policy) << "\n";
        const auto outcomes = replayed(log, policy);
        // In an order that is not the log's: the state is found for every place by itself.
        const auto places = fair_start_places(log.size(), log.size() - 1, draw::in_range(0, 9));
        const auto exact = fair_starts(outcomes, 4, policy, places);
        const auto truncated = fair_starts_replayed(outcomes, places, [&](std::span<const SimJob> jobs) {
            return Result(std::optional(simulate(jobs, 4, policy).value().back()));
        });
        RC_ASSERT(exact.has_value() && exact->size() == places.size() && truncated->size() == places.size());
        for (std::size_t i = 0; i < places.size(); ++i) {
            RC_ASSERT((*exact)[i].at == places[i] && (*truncated)[i].at == places[i]);
            // A job that did not wait is not replayed: a later one may have helped it, but it missed nothing.
            const bool has_waited = outcomes[places[i]].wait() > Duration{};
            const Instant replayed_start = (*truncated)[i].start;
            RC_ASSERT((*exact)[i].start == (has_waited ? replayed_start : outcomes[places[i]].start));
        }
    });
}

TEST_CASE("fair starts: a sample has one job of each stretch; all in their order when all are asked for") {
    const auto places = fair_start_places(1000, 10, 3);
    REQUIRE(places.size() == 10);
    std::vector<std::uint32_t> stretches;
    for (const std::uint32_t place : places) {
        stretches.push_back(place / 100);
    }
    CHECK_FALSE(std::is_sorted(stretches.begin(), stretches.end()));
    std::sort(stretches.begin(), stretches.end());
    CHECK(stretches == std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
    CHECK(fair_start_places(1000, 10, 3) == places);
    CHECK(fair_start_places(1000, 10, 4) != places);
    CHECK(fair_start_places(3, 7, 1) == std::vector<std::uint32_t>{0, 1, 2});
    CHECK(fair_start_places(0, 7, 1).empty());
}

TEST_CASE("fair starts: stopped, they are those found until then") {
    const std::vector<Outcome> outcomes = {ran(0, 0, 10, 4), ran(1, 10, 10, 4), ran(2, 20, 10, 4), ran(3, 30, 10, 4)};
    const std::vector<std::uint32_t> places{0, 1, 2, 3};
    std::uint64_t found = 0;
    const auto fair = fair_starts(outcomes, 4, Easy{}, places, [&](std::uint64_t, std::uint64_t more) {
        found += more;
        return found < 2;
    });
    REQUIRE(fair.has_value());
    REQUIRE(fair->size() == 2);
    CHECK((*fair)[1].start == test::at(10));
}

// Wilson's interval of 9 of 100 is 4.8 % to 16.2 %; of all jobs it is the part itself; of half of them narrower.
TEST_CASE("fair starts: the interval of a sample, none of all jobs") {
    std::vector<Outcome> outcomes;
    std::vector<FairStart> fair;
    for (std::uint32_t i = 0; i < 100'000; ++i) {
        outcomes.push_back(ran(i, i + 100, 10, 1));
    }
    for (std::uint32_t i = 0; i < 100; ++i) {
        fair.push_back({i, i < 9 ? test::at(i) : outcomes[i].start});
    }
    const FairStartMetrics sampled = fair_start_metrics(outcomes, fair);
    CHECK(sampled.missed_part() == Approx(.09));
    CHECK(sampled.missed_interval.low == Approx(.0481).margin(.0005));
    CHECK(sampled.missed_interval.high == Approx(.1623).margin(.0005));
    CHECK(sampled.miss_mean_s == Approx(9));
    CHECK(sampled.miss_mean_interval_s.high == Approx(9 + 1.96 * 28.76 / 10).margin(.01));
    outcomes.resize(200);
    const FairStartMetrics of_half = fair_start_metrics(outcomes, fair);
    CHECK(of_half.missed_interval.low > sampled.missed_interval.low);
    outcomes.resize(100);
    const FairStartMetrics all = fair_start_metrics(outcomes, fair);
    CHECK(all.missed_interval.low == all.missed_part());
    CHECK(all.missed_interval.high == all.missed_part());
    CHECK(all.miss_mean_interval_s.low == all.miss_mean_interval_s.high);
}

TEST_CASE("usage history: charge, half-life, distance") {
    const PartyTree tree = parties_by_user(test::jobs_of(two_users));
    const Timeline timeline(two_users);
    const Instant end{test::secs(40)};
    const auto samples = usage_history(timeline, tree, test::secs(10), {Instant{}, end});
    REQUIRE(samples.size() == 2);
    CHECK(samples[0].usage_core_s[0] == 0);
    CHECK(level_fs_error(samples[0], tree) == 0);
    const auto charge = [](double cores, double from, double to) {
        const double rate = std::log(2.) / 10;
        return cores / rate * (std::exp2((to - 40) / 10) - std::exp2((from - 40) / 10));
    };
    const double first = charge(4, 0, 10) + charge(1, 10, 20);
    const double second = charge(2, 10, 40);
    CHECK(samples[1].usage_core_s[1] == Approx(first));
    CHECK(samples[1].usage_core_s[2] == Approx(second));
    CHECK(asking_parts(samples[1], tree).empty());  // all has ended
    // At 39 s only the second asks for something.
    const auto before = usage_history(timeline, tree, test::secs(10), {test::at(39)});
    const double part = before[0].usage_core_s[2] / before[0].usage_core_s[0];
    CHECK(level_fs_error(before[0], tree) == Approx(std::abs(std::log2(.5 / part))));
    CHECK_FALSE(distance_from_entitlement(before[0], tree));
    const auto both = usage_history(timeline, tree, test::secs(10), {test::at(15)});
    const double first_then = both[0].usage_core_s[1] / both[0].usage_core_s[0];
    REQUIRE(asking_parts(both[0], tree).size() == 2);
    CHECK(distance_from_entitlement(both[0], tree).value() == Approx(std::abs(first_then - .5)));
}

// Kills: a user without jobs counts in the distance, as user or by his entitlement.
TEST_CASE("usage history: who asks for nothing counts neither by usage nor by entitlement") {
    PartyTree tree;
    tree.parties = {{"", 0, 1}, {"a", 0, 1}, {"b", 0, 3}, {"idle", 0, 96}};
    const UsageSample sample{Instant{}, {200, 50, 50, 100}, {true, true, true, false}};
    const auto parts = asking_parts(sample, tree);
    REQUIRE(parts.size() == 2);
    CHECK(parts[0].used == Approx(.5));
    CHECK(parts[0].entitled == Approx(.25));
    CHECK(parts[1].party == 2);
    CHECK(distance_from_entitlement(sample, tree).value() == Approx(.25));
}

// Kills: one account above all others is compared with nobody.
TEST_CASE("usage history: below a single account its children are compared") {
    PartyTree tree;
    tree.parties = {{"", 0, 1}, {"site", 0, 5}, {"site/all", 1, 1}, {"a", 2, 1}, {"b", 2, 3}, {"@*", 2, 0}};
    tree.payer = {3, 4};
    CHECK(tree.first_fork() == 2);
    const UsageSample sample{Instant{}, {100, 100, 100, 50, 50, 0}, {true, true, true, true, true, false}};
    CHECK(asking_parts(sample, tree).empty());
    tree.compared_below = tree.first_fork();
    CHECK(distance_from_entitlement(sample, tree).value() == Approx(.25));
    tree.parties.push_back({"(nobody's)", 0, 0});  // who is entitled to nothing, and runs jobs, is compared too
    tree.payer.push_back(6);
    CHECK(tree.first_fork() == 0);
    tree = PartyTree{{{"", 0, 1}, {"one", 0, 1}}, {1}};
    CHECK(tree.first_fork() == 0);
}

TEST_CASE("usage history: looks") {
    CHECK(daily_level_fs_error(Timeline(two_users), parties_by_user(test::jobs_of(two_users)), test::secs(10)) == 0);
    CHECK(equal_looks(Timeline(two_users), 4).back() == Timeline(two_users).end());
}

/// The mean over the ends of days, from a sample of each.
static double mean_of_samples(const Timeline& timeline, const PartyTree& tree, Duration half_life) {
    std::vector<Instant> ends;
    for (Instant at = timeline.begin() + 24h; at <= timeline.end(); at += 24h) {
        ends.push_back(at);
    }
    double mean = 0;
    for (const UsageSample& sample : usage_history(timeline, tree, half_life, ends)) {
        mean += level_fs_error(sample, tree) / static_cast<double>(ends.size());
    }
    return mean;
}

// Kills: a day without jobs counts differently from others; the error of a steady stretch is taken too early.
TEST_CASE("usage history: the mean over days is that of a sample a day, to the last bit") {
    constexpr std::int64_t day = 86400;
    std::vector<Outcome> outcomes = {ran(7, 7, 3 * day, 4, 1),
                                     ran(9, 100, day + 3, 1, 2),
                                     ran(2 * day + 7, 3 * day + 7, 100, 2, 3),  // waits at the end of a day
                                     ran(40 * day + 7, 40 * day + 7, day, 2, 3),
                                     ran(41 * day, 41 * day, 900 * day, 1, 1),
                                     ran(50 * day, 60 * day, 2000 * day, 2, 2),
                                     ran(2500 * day, 2501 * day, 0, 2, 3)};
    for (const Duration half_life : {Duration(10min), Duration(24h), Duration(24h * 7), Duration(24h * 400)}) {
        const PartyTree tree = parties_by_user(test::jobs_of(outcomes));
        const Timeline timeline(outcomes);
        const double mean = daily_level_fs_error(timeline, tree, half_life);
        CHECK(mean > 0);
        CHECK(mean == mean_of_samples(timeline, tree, half_life));
    }
}

TEST_CASE("usage history: days over a hundred thousand years take neither memory nor time") {
    std::vector<Outcome> outcomes = {ran(0, 0, 100'000, 4, 1), ran(5, 5, 100'000, 4, 2),
                                     ran(4'000'000'000'000, 4'000'000'000'000, 100'000, 4, 2)};
    const double after_idle = daily_level_fs_error(Timeline(outcomes), parties_by_user(test::jobs_of(outcomes)), 24h);
    CHECK(after_idle >= 0);
    CHECK(after_idle < 1e-6);
    outcomes.push_back(ran(6, 6, 4'000'000'000'000, 1, 3));
    outcomes.push_back(ran(7, 7, 4'000'000'000'000, 3, 4));
    const double steady = daily_level_fs_error(Timeline(outcomes), parties_by_user(test::jobs_of(outcomes)), 24h);
    CHECK(steady > .5);  // one has a quarter of the usage, the other three
    CHECK(steady < 3);
}
