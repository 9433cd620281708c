// SPDX-License-Identifier: LGPL-3.0-only
#include "libsched/sim/limited_order.hpp"

#include <catch2/catch.hpp>
#include <map>

#include "libfairshare/toml/share_tree_toml.hpp"
#include "libsched/sim/priority_order.hpp"
#include "t/unit/draws.hpp"
#include "t/unit/libsched/replays.hpp"
#include "t/unit/libsched/workload.hpp"

using namespace weir;
using test::at;
using test::secs;

namespace {

LogShares shares(const std::string& toml) {
    auto tree = parse_share_tree(toml);
    REQUIRE(std::holds_alternative<ShareTree>(tree));
    return LogShares(std::get<ShareTree>(std::move(tree)), {{1, "a"}, {2, "b"}});
}

std::vector<SimJob> equal_jobs(int count, std::uint32_t user, std::int64_t run_s, std::uint32_t cores = 1) {
    std::vector<SimJob> jobs;
    for (int i = 0; i < count; i++) {
        SimJob job;
        job.number = i;
        job.submit = at(0);
        job.run = job.limit = secs(run_s);
        job.cores = cores;
        job.user = user;
        jobs.push_back(job);
    }
    return jobs;
}

std::vector<Outcome> replay(const std::string& toml, const std::vector<SimJob>& jobs, PolicySettings settings = {}) {
    const auto order = make_priority_order(settings, 8, shares(toml)).value();
    return test::replay(jobs, 8, Easy{}, order.get());
}

/// What user 1 has at once at most: jobs and cores.
std::pair<std::int64_t, std::int64_t> most_of_first(const std::vector<Outcome>& outcomes) {
    std::map<Instant, std::pair<std::int64_t, std::int64_t>> steps;
    for (const Outcome& outcome : outcomes) {
        if (outcome.job.user == 1 && outcome.job.run > Duration{}) {
            steps[outcome.start].first++, steps[outcome.start].second += outcome.job.cores;
            steps[outcome.end()].first--, steps[outcome.end()].second -= outcome.job.cores;
        }
    }
    std::pair<std::int64_t, std::int64_t> now, most;
    for (const auto& [when, step] : steps) {
        now = {now.first + step.first, now.second + step.second};
        most = {std::max(most.first, now.first), std::max(most.second, now.second)};
    }
    return most;
}

}  // namespace

TEST_CASE("limits in a replay: so many jobs run at once, whatever the policy") {
    for (const PolicyKind kind :
         {PolicyKind::fcfs, PolicyKind::multifactor, PolicyKind::lsf, PolicyKind::load_threshold}) {
        PolicySettings settings;
        settings.policy = kind;
        settings.update_interval = Duration{};
        const auto outcomes =
            replay("\"@a\" = {shares = 1, running_jobs_max = 2}\n\"@b\" = 1\n", equal_jobs(6, 1, 100), settings);
        REQUIRE(outcomes.size() == 6);
        const auto starts = test::starts_of(outcomes);
        CHECK(starts == std::vector<Instant>{at(0), at(0), at(100), at(100), at(200), at(200)});
    }
}

TEST_CASE("limits in a replay: cores of an account, wall time, jobs that are there at all") {
    CHECK(
        most_of_first(replay("\"x\" = {shares = 1, cores_max = 5}\n\"x/@a\" = 1\n", equal_jobs(9, 1, 10, 2))).second ==
        4);
    // Too long, or one too many: never.
    CHECK(replay("\"@a\" = {shares = 1, wall_time_max = \"1m\"}\n", equal_jobs(3, 1, 61)).empty());
    CHECK(replay("\"@a\" = {shares = 1, active_jobs_max = 4}\n", equal_jobs(9, 1, 10)).size() == 4);
}

TEST_CASE("limits in a replay: who has used up his part waits until it has decayed") {
    auto jobs = equal_jobs(1, 1, 3600, 8);
    jobs.push_back(equal_jobs(1, 1, 60).front());
    jobs.push_back(equal_jobs(1, 2, 60).front());
    jobs[1].submit = jobs[2].submit = at(3600);
    PolicySettings settings;
    settings.half_life = std::chrono::hours(1);
    settings.update_interval = secs(60);
    auto later = equal_jobs(1, 2, 60).front();
    later.submit = at(10 * 3600);
    jobs.push_back(later);
    // 8 core-hours, of which about 5.8 are left at their end; 2.9 an hour later, 1.4 two hours later.
    const auto starts =
        test::starts_of(replay("\"@a\" = {shares = 1, usage_max = \"2h\"}\n\"@b\" = 1\n", jobs, settings));
    CHECK(starts[2] == at(3600));
    CHECK(starts[1] > at(2 * 3600));
    CHECK(starts[1] < at(3 * 3600));
}

// Mutant: libsched/sim/limited_order.hpp: return inner != never ? inner : lets_go_; => return inner;
TEST_CASE("limits in a replay: a job starts as soon as usage has decayed below its limit, with no other event") {
    auto jobs = equal_jobs(2, 1, 3600, 8);
    jobs[1].submit = at(3700);
    PolicySettings settings;
    settings.half_life = secs(3600);
    const std::string toml = "\"@a\" = {shares = 1, usage_max = \"2h\"}\n";
    // 8 cores for one half-life leave 8 h x (1 - 1/2) / ln 2 = 5.77 core-hours, which fall to 2 in 5503 s.
    for (const PolicyKind policy : {PolicyKind::fcfs, PolicyKind::multifactor}) {
        for (const int interval : {0, 30}) {
            settings.policy = policy;
            settings.update_interval = secs(interval);
            const auto outcomes = replay(toml, jobs, settings);
            REQUIRE(outcomes.size() == 2);
            CHECK(outcomes[1].start > at(9102));
            CHECK(outcomes[1].start < at(9104 + interval));
        }
    }
    settings.update_interval = {};
    settings.decay = DecayKind::none;
    CHECK(replay(toml, jobs, settings).size() == 1);
    settings.usage_reset = ResetPeriod::daily;
    const auto outcomes = replay(toml, jobs, settings);
    REQUIRE(outcomes.size() == 2);
    CHECK(outcomes[1].start == at(24 * 3600));
    CHECK(replay("\"@a\" = {shares = 1, usage_max = \"0h\"}\n", jobs, settings).empty());
}

TEST_CASE("limits in a replay: usage caps want usage that decays continuously") {
    PolicySettings settings;
    settings.decay = DecayKind::window;
    const auto made = make_priority_order(settings, 8, shares("\"@a\" = {shares = 1, running_jobs_max = 2}\n"));
    REQUIRE_FALSE(made);
    CHECK(made.error().message.find("half-life") != std::string::npos);
}

// Kills: a job not held before anything was said of it; inner priorities told of jobs that are held back; an end that
// gives no place back; cores not counted.
TEST_CASE("limits in a replay: no limit is passed, and every job that may start does") {
    draw::property("whatever limits", [] {
        auto jobs = test::any_workload(8);
        for (SimJob& job : jobs) {
            job.user = static_cast<std::uint32_t>(draw::in_range(1, 3));
            job.limit = std::max(job.limit, secs(1));
        }
        const auto jobs_max = draw::in_range(1, 4);
        const auto cores_max = draw::in_range(8, 9 + jobs_max);
        PolicySettings settings;
        settings.policy = draw::element(PolicyKind::fcfs, PolicyKind::multifactor);
        settings.update_interval = secs(draw::element(0, 30));
        const auto outcomes = replay("\"@a\" = {shares = 1, running_jobs_max = " + std::to_string(jobs_max) +
                                         ", cores_max = " + std::to_string(cores_max) + "}\n\"@b\" = 1\n",
                                     jobs, settings);
        RC_ASSERT(outcomes.size() == jobs.size());
        const auto [at_once, cores] = most_of_first(outcomes);
        RC_ASSERT(at_once <= jobs_max);
        RC_ASSERT(cores <= cores_max);
    });
}
