// SPDX-License-Identifier: LGPL-3.0-only
// Several replays at once: results in the plan's order, errors, interruption.
#include "cmd/sim/replays.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <future>

#include "cmd/sim/yardstick.hpp"
#include "libsched/sim/simulate.hpp"
#include "t/unit/cmd/made_log.hpp"

using namespace weir;
using namespace weir::cmd;

namespace {

Yardstick yardstick_of(const std::vector<SimJob>& jobs) {
    Yardstick yardstick;
    yardstick.cores = 4;
    yardstick.jobs = jobs.size();
    measure_equal_shares(yardstick, jobs);
    return yardstick;
}

PlannedReplay plan_of(const std::string& name, const Policy& policy) {
    PlannedReplay plan;
    plan.name = name;
    plan.scheduler = policy;
    return plan;
}

/// Leaves the order alone; when the thousandth job comes, somebody presses Ctrl-C, and the replay goes on when that has
/// been noticed.
class PressesCtrlC final : public QueueOrder {
  public:
    explicit PressesCtrlC(std::shared_future<void> noticed) : noticed_(std::move(noticed)) {}
    void submitted(const SimJob& job, JobId, Instant) override {
        if (job.number == 1000) {
            kill(getpid(), SIGINT);
            noticed_.wait();
        }
    }
    void started(const SimJob&, JobId, Instant) override {}
    void ended(const SimJob&, JobId, Instant) override {}
    void prioritize(Instant, std::vector<std::pair<JobId, std::uint32_t>>&) override {}

  private:
    std::shared_future<void> noticed_;
};

}  // namespace

TEST_CASE("replays: five at once are what each is alone, in the plan's order, with fair starts") {
    Signals signals;
    const auto jobs = test::made_log(300, 35);
    const std::vector<PlannedReplay> plan = {plan_of("a", Easy{}), plan_of("b", Fcfs{}), plan_of("c", Easy{}),
                                             plan_of("d", Fcfs{}), plan_of("e", Easy{})};
    const auto results = replay_all(plan, yardstick_of(jobs), jobs, signals, {});
    REQUIRE(results.has_value());
    REQUIRE(results->replays.size() == 5);
    CHECK_FALSE(results->is_interrupted);
    for (std::size_t p = 0; p < plan.size(); ++p) {
        const auto alone = simulate(jobs, 4, plan[p].scheduler).value();
        CHECK(results->replays[p].name == plan[p].name);
        CHECK(results->measures[p].fair_start->jobs == 300);
        for (std::size_t i = 0; i < jobs.size(); ++i) {
            REQUIRE(results->replays[p].outcomes[i].start == alone[i]);
        }
    }
    CHECK(results->measures[1].fair_start->missed == 0);  // nobody overtakes under FCFS
}

TEST_CASE("replays: a policy that cannot be made is the error of the whole") {
    Signals signals;
    const auto jobs = test::made_log(30, 35);
    PlannedReplay broken = plan_of("b", Easy{});
    broken.order = []() -> Result<std::unique_ptr<QueueOrder>> {
        return Error{std::errc::invalid_argument, "no such algorithm"};
    };
    const auto results = replay_all({plan_of("a", Easy{}), broken}, yardstick_of(jobs), jobs, signals, {});
    REQUIRE_FALSE(results.has_value());
    CHECK(results.error().message == "b: no such algorithm");
}

TEST_CASE("replays: Ctrl-C in the middle keeps what had started, and what was done") {
    Signals signals;
    const auto jobs = test::made_log(3000, 35);
    std::promise<void> noticed;
    const std::shared_future<void> future = noticed.get_future().share();
    PlannedReplay plan = plan_of("cut", Easy{});
    plan.order = [&]() -> Result<std::unique_ptr<QueueOrder>> {
        return std::unique_ptr<QueueOrder>(std::make_unique<PressesCtrlC>(future));
    };
    bool is_told = false;
    ReplayWatch watch;
    watch.fair_start_sample = 0;
    watch.progress = [&](const ReplayProgress& at) {
        CHECK(at.part <= 1);
        if (signals.is_stop_asked() && !is_told) {
            is_told = true;
            noticed.set_value();
        }
    };
    const auto results = replay_all({plan}, yardstick_of(jobs), jobs, signals, watch);
    REQUIRE(results.has_value());
    CHECK(results->is_interrupted);
    REQUIRE(results->replays.size() == 1);
    CHECK_FALSE(results->replays[0].is_complete);
    CHECK(results->replays[0].outcomes.size() >= 900);
    CHECK(results->replays[0].outcomes.size() < 3000);
    CHECK(results->measures[0].jobs.jobs == results->replays[0].outcomes.size());
}

/// Leaves the order alone: with it fair starts need replays from the beginning.
class LeavesAlone final : public QueueOrder {
  public:
    void submitted(const SimJob&, JobId, Instant) override {}
    void started(const SimJob&, JobId, Instant) override {}
    void ended(const SimJob&, JobId, Instant) override {}
    void prioritize(Instant, std::vector<std::pair<JobId, std::uint32_t>>&) override {}
};

TEST_CASE("replays: fair starts are of the same jobs under a policy that needs a sample and one that does not") {
    Signals signals;
    const auto jobs = test::made_log(300, 35);
    PlannedReplay ordered = plan_of("ordered", Easy{});
    ordered.order = []() -> Result<std::unique_ptr<QueueOrder>> {
        return std::unique_ptr<QueueOrder>(std::make_unique<LeavesAlone>());
    };
    ReplayWatch watch;
    watch.fair_start_sample = 30;
    const auto results = replay_all({plan_of("plain", Easy{}), ordered}, yardstick_of(jobs), jobs, signals, watch);
    REQUIRE(results.has_value());
    REQUIRE(results->replays[0].fair.size() == 30);
    REQUIRE(results->replays[1].fair.size() == 30);
    for (std::size_t i = 0; i < 30; ++i) {
        CHECK(results->replays[0].fair[i].at == results->replays[1].fair[i].at);
        CHECK(results->replays[0].fair[i].start == results->replays[1].fair[i].start);
    }
    const Measured& plain = results->measures[0];
    CHECK(plain.is_fair_start_sampled());
    CHECK(plain.fair_start->missed_interval.low < plain.fair_start->missed_interval.high);
}
