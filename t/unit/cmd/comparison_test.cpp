// SPDX-License-Identifier: LGPL-3.0-only
// Comparisons: figures, windows, the page's parts.
#include "cmd/sim/comparison.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "cmd/sim/comparison_text.hpp"
#include "cmd/sim/figures.hpp"
#include "cmd/sim/pictures.hpp"
#include "cmd/sim/yardstick.hpp"
#include "libfairshare/tree/share_tree_builder.hpp"
#include "libsched/sim/simulate.hpp"
#include "t/unit/cmd/labels.hpp"
#include "t/unit/cmd/made_log.hpp"
#include "t/unit/draws.hpp"

using namespace weir;
using namespace weir::cmd;

namespace {

Replayed replayed(const std::string& name, const std::vector<SimJob>& jobs, const Policy& policy) {
    Replayed result;
    result.name = name;
    result.scheduler = std::string(name_of(policy));
    result.order = "submission";
    const auto starts = simulate(jobs, 4, policy);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        result.outcomes.push_back({jobs[i], starts.value()[i], i});
    }
    return result;
}

Comparison comparison_of(int count) {
    const auto jobs = test::made_log(count);
    Yardstick yardstick;
    yardstick.log = "made";
    yardstick.cores = 4;
    yardstick.jobs = jobs.size();
    measure_equal_shares(yardstick, jobs);
    const std::vector<Replayed> replays = {replayed("a", jobs, Easy{}), replayed("b", jobs, Fcfs{})};
    return compared(yardstick, replays, {measured(yardstick, replays[0]), measured(yardstick, replays[1])});
}

}  // namespace

TEST_CASE("figures: keys are unique, every figure has a text") {
    const Comparison comparison = comparison_of(40);
    std::set<std::string> keys;
    for (const Figure& figure : figures()) {
        CHECK(keys.insert(figure.key).second);
        CHECK_FALSE(figure_text(figure, comparison.policies[0]).empty());
    }
    CHECK(figure_text(figures().back(), comparison.policies[0]) == "-");  // no fair starts were asked for
}

TEST_CASE("figures: the best is the lowest wait, the highest utilisation, nobody where two are equal") {
    const Comparison comparison = comparison_of(40);
    const auto best_in = [&](const std::string& key) {
        const auto found =
            std::find_if(figures().begin(), figures().end(), [&](const Figure& figure) { return figure.key == key; });
        return best(*found, comparison.policies);
    };
    REQUIRE(comparison.policies[0].jobs.wait_s.mean < comparison.policies[1].jobs.wait_s.mean);
    REQUIRE(comparison.policies[0].machine.utilization > comparison.policies[1].machine.utilization);
    CHECK(best_in("wait_mean_s") == 0);
    CHECK(best_in("utilization") == 0);
    CHECK_FALSE(best_in("jobs"));
    CHECK_FALSE(best_in("fair_start_missed"));
    CHECK_FALSE(best(figures()[1], {comparison.policies[0], comparison.policies[0]}));
}

TEST_CASE("comparison: nobody is best where intervals overlap; who is best where they do not") {
    std::vector<Measured> policies(2);
    const auto give = [&](std::size_t i, double low, double high) {
        FairStartMetrics metrics;
        metrics.jobs = 100;
        metrics.missed = static_cast<std::uint64_t>(50 * (low + high));
        metrics.missed_interval = {low, high};
        policies[i].fair_start = metrics;
    };
    const auto missed = std::find_if(figures().begin(), figures().end(), [](const Figure& figure) {
        return figure.key == std::string_view("fair_start_missed");
    });
    give(0, .05, .16);
    give(1, .13, .13);
    CHECK_FALSE(best(*missed, policies));
    CHECK(figure_text(*missed, policies[0]) == "10.0 % (5.0 % to 16.0 %)");
    CHECK(figure_text(*missed, policies[1]) == "13.0 %");
    give(1, .17, .19);
    CHECK(best(*missed, policies) == 0);
}

// Kills: a star for a policy that ran fewer jobs, was cut off, or is the only one with a value.
TEST_CASE("comparison: nobody is best where policies did not run the same jobs to the end, or one has no value") {
    const Comparison comparison = comparison_of(40);
    const Figure& wait = figures()[1];
    std::vector<Measured> policies = comparison.policies;
    REQUIRE(best(wait, policies) == 0);
    policies[1].is_complete = false;
    CHECK_FALSE(best(wait, policies));
    policies = comparison.policies;
    policies[1].jobs.jobs--;
    CHECK_FALSE(best(wait, policies));
    policies = comparison.policies;
    policies[0].fair_start = FairStartMetrics{};
    for (const Figure& figure : figures()) {
        CHECK((figure.of(policies[1]) || !best(figure, policies)));
    }
}

TEST_CASE("comparison: fair starts are the same under all policies only where all have them") {
    Comparison comparison = comparison_of(40);
    comparison.fair_starts_planned = 10;
    FairStartMetrics metrics;
    metrics.jobs = 10;
    comparison.policies[0].fair_start = metrics;
    CHECK(fair_starts_text(comparison).find("the same under all policies that have them.") != std::string::npos);
    comparison.policies[1].fair_start = metrics;
    CHECK(fair_starts_text(comparison).find("the same under all policies.") != std::string::npos);
}

TEST_CASE("comparison: jobs that never started are told of their policy") {
    Comparison comparison = comparison_of(40);
    CHECK(comparison_table(comparison, Screen{}).find("never started") == std::string::npos);
    comparison.policies[1].never_started = {11, 16};
    const std::string text = "b: 11 jobs never started: a limit keeps them out; first: job 16";
    CHECK(comparison_table(comparison, Screen{}).find(text) != std::string::npos);
    CHECK(comparison_html(comparison).find(text) != std::string::npos);
    CHECK(comparison_json(comparison).find(R"("never_started":11,"first_never_started":16)") != std::string::npos);
}

// Kills: cores given back late or not at all; two jobs on one core; a job on fewer cores than it has.
TEST_CASE("comparison: in the window every job has its cores and no core has two jobs") {
    draw::property("packing", [] {
        auto jobs = test::any_workload(4);
        RC_PRE(!jobs.empty());
        const auto outcomes = replayed("a", jobs, Easy{}).outcomes;
        const auto from = test::at(draw::in_range(0, 60));
        const auto to = from + test::secs(draw::in_range(1, 60));
        const auto window = window_jobs(outcomes, 4, from, to);
        for (const WindowJob& job : window) {
            double cores = 0;
            for (const auto& [low, high] : job.cores) {
                cores += high - low;
            }
            RC_ASSERT(cores == job.outcome.job.cores);
            for (const WindowJob& other : window) {
                const bool is_together = &other != &job && other.outcome.start < job.outcome.end() &&
                                         job.outcome.start < other.outcome.end();
                for (const auto& [low, high] : job.cores) {
                    for (const auto& [other_low, other_high] : other.cores) {
                        RC_ASSERT(!is_together || high <= other_low || other_high <= low);
                    }
                }
            }
        }
    });
}

TEST_CASE("comparison: groups as many as users are no accounts; equal comparisons give equal bytes") {
    Yardstick yardstick;
    measure_equal_shares(yardstick, test::made_log(30));  // three users, two groups
    CHECK(yardstick.accounts.parties.size() == 4);
    CHECK(comparison_html(comparison_of(60)) == comparison_html(comparison_of(60)));
    CHECK(comparison_json(comparison_of(60)) == comparison_json(comparison_of(60)));
    CHECK(pictures(comparison_of(60)).size() == 7);
}

TEST_CASE("comparison: a narrow terminal gets a row a policy and no line is too long") {
    Screen narrow;
    narrow.width = 60;
    const std::string text = comparison_table(comparison_of(40), Screen{});
    CHECK(text.find("users' slowdown, worst") != std::string::npos);
    Comparison many = comparison_of(40);
    while (many.policies.size() < 8) {
        many.policies.push_back(many.policies.back());
    }
    const std::string rows = comparison_table(many, narrow);
    std::size_t begin = 0;
    for (std::size_t end = rows.find('\n'); end != std::string::npos; begin = end + 1, end = rows.find('\n', begin)) {
        CHECK(columns(rows.substr(begin, end - begin)) <= 60);
    }
    CHECK(rows.find("policy") == 0);
}

// Mutant: cmd/sim/comparison.cpp: levels[yardstick.accounts_level] => levels.front()
TEST_CASE("comparison: accounts below a single one deviate as they do without it") {
    const auto jobs = test::made_log(60);
    const auto accounts_under = [&](const std::string& root) {
        std::vector<NodeSpec> specs;
        for (const std::string& name :
             {std::string("a"), std::string("a/@u1"), std::string("b"), std::string("b/@*")}) {
            NodeSpec spec;
            spec.name = root + name;
            spec.shares = name == "a" ? 3 : 1;
            specs.push_back(std::move(spec));
        }
        if (!root.empty()) {
            NodeSpec site;
            site.name = root.substr(0, root.size() - 1);
            specs.insert(specs.begin(), std::move(site));
        }
        Yardstick yardstick;
        yardstick.cores = 4;
        yardstick.jobs = jobs.size();
        measure_share_tree(yardstick, jobs, "shares.toml", LogShares(std::get<ShareTree>(build_share_tree(specs)), {}));
        return measured(yardstick, replayed("a", jobs, Easy{})).accounts;
    };
    const LevelMetrics plain = accounts_under(""), below = accounts_under("site/");
    CHECK(plain.deviation > 0.01);
    CHECK(below.deviation == Approx(plain.deviation).epsilon(1e-12));
    CHECK(below.parties == 2);
}

TEST_CASE("comparison: what was cut off says so, and nobody started is no picture") {
    const auto jobs = test::made_log(20);
    Yardstick yardstick;
    yardstick.cores = 4;
    measure_equal_shares(yardstick, jobs);
    Replayed half = replayed("half", jobs, Easy{});
    half.outcomes.resize(7);
    half.is_complete = false;
    Comparison comparison = compared(yardstick, {half}, {measured(yardstick, half)});
    CHECK(comparison_table(comparison, Screen{}).find("half was cut off: its figures are those of the 7 jobs") !=
          std::string::npos);
    CHECK(comparison_html(comparison).find("It was cut off") != std::string::npos);
    half.outcomes.clear();
    comparison = compared(yardstick, {half}, {measured(yardstick, half)});
    CHECK(pictures(comparison).empty());
}

TEST_CASE("comparison: no label of a picture is crossed by a line, lies on another or is outside") {
    for (const Picture& picture : pictures(comparison_of(120))) {
        INFO(picture.heading);
        CHECK(test::unreadable_labels(picture.svg) == std::vector<std::string>{});
    }
}

// Kills: a label at a fixed place beside its mark, where a grid line or another label may be.
TEST_CASE("comparison: the frontier's labels can be read wherever the marks are") {
    Comparison comparison = comparison_of(60);
    for (int i = 0; i < 60; ++i) {
        comparison.policies[0].users.slowdown.mean = 40 + i * .25;
        comparison.policies[1].users.slowdown.mean = 44;
        comparison.policies[0].jobs.wait_s.max = 180 * 3600.;
        comparison.policies[1].jobs.wait_s.max = (170 + i) * 3600.;
        INFO(i);
        CHECK(test::unreadable_labels(frontier_picture(comparison).svg) == std::vector<std::string>{});
    }
}
