// SPDX-License-Identifier: LGPL-3.0-only
#include "libsched/sim/priority_order.hpp"

#include <catch2/catch.hpp>
#include <map>

#include "libfairshare/tree/share_tree_builder.hpp"
#include "libsched/sim/lublin.hpp"
#include "libsched/sim/replay_order.hpp"
#include "libsched/sim/simulate.hpp"
#include "t/unit/draws.hpp"
#include "t/unit/libsched/replays.hpp"

using namespace weir;

namespace {

std::vector<SimJob> some_jobs() {
    LublinSettings model;
    model.seed = draw::in_range<std::uint64_t>(1, 1'000'000);
    model.jobs = 120;
    model.cores = 16;
    model.load = 1.2;
    model.users = 6;
    model.run_max = 20'000;
    std::vector<SimJob> jobs;
    const std::vector<SwfJob> lines = generate_lublin(model).value();
    for (const SwfJob& job : lines) {
        jobs.push_back(sim_job(job).value());
    }
    return jobs;
}

LogShares users_as_given_tree() {
    NodeSpec account, rule;
    account.name = "log";
    rule.name = "log/@*";
    return LogShares(std::get<ShareTree>(build_share_tree({account, rule})), {});
}

std::vector<Outcome> replay(const PolicySettings& settings, LogShares shares, const std::vector<SimJob>& jobs) {
    const auto order = make_priority_order(settings, 16, std::move(shares)).value();
    return test::replay(jobs, 16, Easy{}, order.get());
}

/// The order behind it, of which nothing may be left out.
class AskedAlways final : public QueueOrder {
  public:
    explicit AskedAlways(QueueOrder& order) : order_(order) {}
    void submitted(const SimJob& job, JobId id, Instant now) override { order_.submitted(job, id, now); }
    void started(const SimJob& job, JobId id, Instant now) override { order_.started(job, id, now); }
    void ended(const SimJob& job, JobId id, Instant now) override { order_.ended(job, id, now); }
    void prioritize(Instant now, std::vector<std::pair<JobId, std::uint32_t>>& changed) override {
        order_.prioritize(now, changed);
    }
    Instant wakes() const override { return order_.wakes(); }

  private:
    QueueOrder& order_;
};

PolicySettings some_settings() {
    PolicySettings settings;
    settings.policy =
        draw::element(PolicyKind::multifactor, PolicyKind::lsf, PolicyKind::moab, PolicyKind::load_threshold);
    settings.update_interval = std::chrono::seconds(draw::element(0, 30, 600));
    settings.only_raises = draw::element(false, false, true);
    settings.half_life = std::chrono::hours(draw::element(2, 24));
    settings.weights = {draw::element(0., 1000.), 10000, 0, 0, draw::element(0., 500.), 0};
    settings.moab.components[static_cast<std::size_t>(MoabComponent::service)].parts[0].weight = 1;
    settings.moab.credentials[0]["*"].cap = FairShareTarget{TargetKind::absolute_cap, 2e6};
    return settings;
}

}  // namespace

// Kills: KeptReservations left out like the others; the last waking taken from the one after or before; only_raises
// forgotten in forgets_asking(). Lives: the same in wakes_last(), where a floor rarely matters.
TEST_CASE("priority order: what is left out while nobody could start changes no start") {
    draw::property("starts", [] {
        const auto jobs = some_jobs();
        const PolicySettings settings = some_settings();
        const Policy policy = policy_named(draw::element<std::string>("fcfs", "first-fit", "easy", "easy-sjf", "hybrid",
                                                                      "conservative", "conservative-fw"))
                                  .value();
        const auto shares = [given = draw::arbitrary<bool>()] {
            return given ? users_as_given_tree() : LogShares::of_users();
        };
        const auto order = make_priority_order(settings, 16, shares()).value();
        const auto asked = make_priority_order(settings, 16, shares()).value();
        AskedAlways always(*asked);
        const auto left_out = test::replay(jobs, 16, policy, order.get());
        const auto told = test::replay(jobs, 16, policy, &always);
        RC_ASSERT(
            std::equal(left_out.begin(), left_out.end(), told.begin(), told.end(),
                       [](const Outcome& a, const Outcome& b) { return a.place == b.place && a.start == b.start; }));
    });
}

// Kills: wakes_last() not asked; could_start() always true.
TEST_CASE("priority order: while nobody could start, an interval costs no pass") {
    SimJob job;
    job.submit = Instant{std::chrono::hours(1)};
    job.run = job.limit = std::chrono::hours(10);
    job.cores = 4;
    std::vector<SimJob> jobs(2, job);
    std::size_t next = 0;
    MultifactorOrder order(PolicySettings{}, 4, LogShares::of_users());
    const auto counters = simulate(
        4, Easy{},
        [&]() -> Result<std::optional<SimJob>> {
            return next < jobs.size() ? std::optional(jobs[next++]) : std::nullopt;
        },
        [](const Outcome&) {}, {.order = &order});
    REQUIRE(counters.has_value());
    CHECK(counters->started == 2);
    CHECK(counters->passes == 4);  // both come, one more before the first ends, it ends, the other ends: not 1200
}

// Kills: jobs of a user whose factor changed not evaluated; a job never evaluated after its first pass.
TEST_CASE("priority order: who used something stands behind who did not, also with jobs that were evaluated before") {
    PolicySettings settings;
    settings.weights = {0, 10000, 0, 0, 0, 0};
    settings.update_interval = Duration{};
    MultifactorOrder order(settings, 4, LogShares::of_users());
    const auto of = [](std::uint32_t user, int submit_s) {
        SimJob job;
        job.user = user;
        job.submit = Instant{std::chrono::seconds(submit_s)};
        return job;
    };
    std::map<JobId, std::uint32_t> told;
    const auto prioritize = [&](int at_s) {
        std::vector<std::pair<JobId, std::uint32_t>> changed;
        order.prioritize(Instant{std::chrono::seconds(at_s)}, changed);
        for (const auto& [id, priority] : changed) {
            told[id] = priority;
        }
    };
    order.submitted(of(1, 0), JobId{0}, of(1, 0).submit);
    order.submitted(of(1, 0), JobId{1}, of(1, 0).submit);
    order.submitted(of(2, 0), JobId{2}, of(2, 0).submit);
    prioritize(0);
    CHECK(told.at(JobId{1}) == told.at(JobId{2}));
    order.started(of(1, 0), JobId{0}, Instant{});
    prioritize(0);
    order.ended(of(1, 0), JobId{0}, Instant{std::chrono::seconds(10)});
    prioritize(10);
    CHECK(told.at(JobId{1}) < told.at(JobId{2}));
}

// Kills: a user whose last job ended before the pass dropped from those whose usage grew.
TEST_CASE("priority order: kept order and whole evaluation of the tree replay alike") {
    draw::property("starts", [] {
        const auto jobs = some_jobs();
        PolicySettings settings;
        settings.update_interval = Duration{};
        settings.half_life = std::chrono::hours(draw::element(2, 24));
        settings.weights = {draw::element(0., 1000.), 10000, 0, 0, draw::element(0., 500.), 0};
        const auto kept = replay(settings, LogShares::of_users(), jobs);
        const auto whole = replay(settings, users_as_given_tree(), jobs);
        RC_ASSERT(test::starts_of(kept) == test::starts_of(whole));
    });
}

// Kills: passes at every event whatever the interval; no waking between events.
TEST_CASE("priority order: with an interval a full pass comes when it is due, and between events too") {
    PolicySettings settings;
    settings.weights = {1000, 0, 0, 0, 0, 0};
    settings.wait_max = std::chrono::hours(1);
    settings.wait_after = {.time = {}};
    MultifactorOrder order(settings, 4, LogShares::of_users());
    std::vector<std::pair<JobId, std::uint32_t>> changed;
    const Instant begin{std::chrono::hours(1)};
    SimJob job;
    job.submit = begin;
    order.submitted(job, JobId{0}, begin);
    order.prioritize(begin, changed);
    CHECK(order.wakes() == begin + settings.update_interval);
    order.prioritize(begin + std::chrono::seconds(10), changed);
    CHECK(order.counts().full_passes == 1);
    changed.clear();
    order.prioritize(order.wakes(), changed);
    CHECK(order.counts().full_passes == 2);
    REQUIRE(changed.size() == 1);
    CHECK(changed[0] == std::pair{JobId{0}, std::uint32_t{8}});  // 1000 x 30 s / 1 h
}

// Kills: the limit not looked at; the longer limit first.
TEST_CASE("priority order: of two jobs that wait as long the wait of the shorter limit counts first") {
    PolicySettings settings;
    settings.weights = {1000, 0, 0, 0, 0, 0};
    settings.wait_max = std::chrono::hours(1);
    settings.wait_after = {std::chrono::hours(2), 4};
    settings.update_interval = Duration{};
    MultifactorOrder order(settings, 4, LogShares::of_users());
    const Instant begin{std::chrono::hours(1)};
    for (const int limit_min : {15, 30, 60}) {
        SimJob job;
        job.submit = begin;
        job.limit = std::chrono::minutes(limit_min);
        order.submitted(job, JobId{static_cast<std::uint64_t>(limit_min)}, begin);
    }
    const auto priority_after = [&](Duration waited) {
        std::vector<std::pair<JobId, std::uint32_t>> changed;
        order.prioritize(begin + waited, changed);
        return std::map<JobId, std::uint32_t>(changed.begin(), changed.end());
    };
    CHECK(priority_after(std::chrono::hours(2)).size() == 3);  // told for the first time
    const auto half = priority_after(std::chrono::minutes(150));
    CHECK(half == std::map<JobId, std::uint32_t>{{JobId{15}, 500}, {JobId{30}, 500}});  // both by the time of 2 h
    const auto later = priority_after(std::chrono::minutes(270));
    CHECK(later.at(JobId{60}) == 500);  // 4 limits and half an hour
}

TEST_CASE("priority order: usage may be counted in windows, or be forgotten by the calendar") {
    // Two users; u1 has used much yesterday, u2 little today. Today's window alone, or a reset at midnight, and u1 is
    // first.
    const auto job = [](std::int64_t number, std::uint32_t user, double submit_h, double run_h) {
        SimJob made;
        made.number = number;
        made.submit = Instant{std::chrono::hours(24 * 20'000)} + duration_from_seconds(submit_h * 3600);
        made.run = made.limit = duration_from_seconds(run_h * 3600);
        made.user = user;
        return made;
    };
    const std::vector<SimJob> jobs{job(1, 1, 0, 20), job(2, 2, 24, 2), job(3, 2, 25, 1), job(4, 1, 25, 1)};
    const auto first = [&](PolicySettings settings) {
        settings.update_interval = Duration{};
        settings.weights = {0, 10000, 0, 0, 0, 0};
        const auto order = make_priority_order(settings, 1, LogShares::of_users()).value();
        return test::replay(jobs, 1, Easy{}, order.get())[2].job.user;
    };
    PolicySettings settings;
    CHECK(first(settings) == 2);
    settings.decay = DecayKind::window;
    settings.window = {std::chrono::hours(24), 1, 1};
    CHECK(first(settings) == 1);
    settings.window.depth = 2;
    CHECK(first(settings) == 2);
    settings.decay = DecayKind::none;
    CHECK(first(settings) == 2);
    settings.usage_reset = ResetPeriod::daily;
    CHECK(first(settings) == 1);
}

TEST_CASE("priority order: groups share first, their users within them") {
    // g1 has one user, g2 two: u1 is entitled to as much as u2 and u3 together.
    std::vector<SimJob> jobs;
    for (int i = 0; i < 300; i++) {
        SimJob job;
        job.number = i;
        job.submit = Instant{std::chrono::hours(1)};
        job.run = job.limit = std::chrono::minutes(10);
        job.user = 1 + static_cast<std::uint32_t>(i % 3);
        job.group = job.user == 1 ? 1 : 2;
        jobs.push_back(job);
    }
    PolicySettings settings;
    settings.update_interval = Duration{};
    settings.weights = {0, 10000, 0, 0, 0, 0};
    const auto order = make_priority_order(settings, 4, LogShares::of_groups()).value();
    const auto outcomes = test::replay(jobs, 4, Easy{}, order.get());
    std::array<int, 4> of_user{};
    for (std::size_t i = 0; i < 160; i++) {
        of_user[outcomes[i].job.user]++;
    }
    // Four start at a time: nobody is further off than what one pass gives.
    CHECK(std::abs(of_user[1] - 80) <= 4);
    CHECK(std::abs(of_user[2] - of_user[3]) <= 4);
}

// Kills: a job's value looked up by its place instead of its number; the factor left out of the engine's settings.
TEST_CASE("priority order: the values of a site's script order a replay's queue, and bad lines are named") {
    PolicySettings settings;
    settings.weights = {0, 0, 0, 0, 0, 0, 0, 1000};
    const auto values = SiteValues::read("# job value\n7,0.25\n 9 \t 0.5 # high\n\n", "site.txt");
    REQUIRE(values);
    CHECK(values->size() == 2);
    MultifactorOrder order(settings, 4, LogShares::of_users(), std::make_shared<const SiteValues>(*values));
    std::vector<std::pair<JobId, std::uint32_t>> changed;
    for (std::uint64_t i = 0; i < 3; i++) {
        SimJob job;
        job.number = static_cast<std::int64_t>(7 + i);
        order.submitted(job, JobId{i}, job.submit);
    }
    order.prioritize(Instant{}, changed);
    CHECK(changed == std::vector<std::pair<JobId, std::uint32_t>>{{JobId{0}, 250}, {JobId{1}, 1}, {JobId{2}, 500}});
    for (const char* bad : {"1\n", "x 1\n", "1 2 3\n", "1 nan\n", "1 inf\n", "1 1\n1 2\n"}) {
        const auto read = SiteValues::read(std::string("5 5\n") + bad, "site.txt");
        INFO(bad);
        REQUIRE_FALSE(read);
        CHECK_THAT(read.error().message, Catch::Matchers::Contains("site.txt:"));
    }
}

// Kills: parties that appear later without their priority; the priority of the user's own line lost.
TEST_CASE("priority order: an association's priority and amounts of resources count in a replay") {
    NodeSpec account, rule, own;
    account.name = "log";
    rule.name = "log/@*";
    own.name = "log/@u2";
    PolicySettings settings;
    settings.weights = {0, 0, 0, 0, 0, 0, 100, 0, 1};
    settings.associations = {{"log", 1}, {"log/@u2", 4}};
    settings.resources = {{"cores", {1000, std::nullopt}}};
    MultifactorOrder order(settings, 10, LogShares(std::get<ShareTree>(build_share_tree({account, rule, own})), {}));
    std::vector<std::pair<JobId, std::uint32_t>> changed;
    for (std::uint32_t i = 0; i < 3; i++) {
        SimJob job;
        job.user = i + 1;
        job.cores = i + 1;
        order.submitted(job, JobId{i}, job.submit);
    }
    order.prioritize(Instant{}, changed);
    CHECK(changed == std::vector<std::pair<JobId, std::uint32_t>>{{JobId{0}, 125}, {JobId{1}, 300}, {JobId{2}, 325}});
}

namespace {

/// Some settings that know two queues and two accounts by these names.
PolicySettings settings_of_names(PolicyKind policy, const std::array<std::string, 2>& queues,
                                 const std::array<std::string, 2>& accounts, const std::array<double, 4>& values) {
    PolicySettings settings;
    settings.policy = policy;
    settings.update_interval = Duration{};
    settings.weights = {0, 10000, 0, values[0], 0, 0};
    settings.moab.components[static_cast<std::size_t>(MoabComponent::service)].weight = 0;
    settings.moab.part(MoabComponent::credential, "account").weight = 1;
    settings.moab.part(MoabComponent::credential, "class").weight = 1;
    for (std::size_t i = 0; i < 2; i++) {
        settings.queues[queues[i]] = values[i];
        settings.billing.factors.queue[queues[i]] = values[2 + i] / 100;
        settings.moab.credentials[2][accounts[i]].priority = values[2 + i];
        settings.moab.credentials[4][queues[i]].priority = values[i];
    }
    return settings;
}

}  // namespace

// Mutant: libsched/sim/replay_order.hpp: waiting.queue = queues_.of(job); => waiting.queue = std::to_string(job.queue);
// Mutant: libsched/sim/replay_books.cpp: "", queues_.of(job)); => "", std::to_string(job.queue));
// Mutant: libsched/sim/replay_books.cpp: return {names_.queues.of(job)}; => return {std::to_string(job.queue)};
// Mutant: libsched/sim/log_names.hpp: return {name, name.substr(name.rfind('/') + 1)}; => return {name};
// Mutant: libsched/sim/log_names.hpp: otherwise.empty() ? std::to_string(job.queue) : otherwise; =>
// std::to_string(job.queue);
TEST_CASE("priority order: queues and accounts count by their names, where they have any, as they do by number") {
    draw::property("starts", [] {
        auto jobs = some_jobs();
        for (SimJob& job : jobs) {
            job.queue = static_cast<std::uint16_t>(job.number % 2 + 1);
            job.group = job.user % 2 + 1;
        }
        const auto policy = draw::element(PolicyKind::multifactor, PolicyKind::lsf, PolicyKind::moab);
        std::array<double, 4> values{};
        for (double& value : values) {
            value = draw::in_range(0, 1000);
        }
        LogNames names;
        names.accounts = {"bio", "science/chem"};
        names.queues.named = {{1, "debug"}};
        names.queues.otherwise = "batch";
        const auto by_number =
            make_priority_order(settings_of_names(policy, {"1", "2"}, {"g1", "2"}, values), 16, LogShares::of_users())
                .value();
        const auto by_name = make_priority_order(settings_of_names(policy, {"debug", "batch"}, {"bio", "chem"}, values),
                                                 16, LogShares::of_users(), {}, names)
                                 .value();
        const auto numbered = test::starts_of(test::replay(jobs, 16, Fcfs{}, by_number.get()));
        const auto named = test::starts_of(test::replay(jobs, 16, Fcfs{}, by_name.get()));
        RC_ASSERT(numbered == named);
    });
}
