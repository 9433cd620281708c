// SPDX-License-Identifier: LGPL-3.0-only
// A log over a parent and its partitions: against the single pool, against schedules worked out by hand, and what must
// hold of any.
#include "modules/replay/tree_replay.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "libsched/sim/priority_order.hpp"
#include "modules/replay/instance.hpp"
#include "t/unit/draws.hpp"
#include "t/unit/libsched/workload.hpp"
#include "t/unit/replay/trees.hpp"

using namespace weir;
using test::at;
using test::job;
using test::seconds_of;
using test::secs;

namespace {

/// The same jobs by up to four users.
std::vector<SimJob> by_users(std::vector<SimJob> jobs) {
    for (std::size_t i = 0; i < jobs.size(); i++) {
        jobs[i].user = 1 + static_cast<std::uint32_t>(i * i % 7 % 4);
    }
    return jobs;
}

/// Waiting jobs change places at each instant.
class Shuffled final : public QueueOrder {
  public:
    void submitted(const SimJob& one, JobId id, Instant) override { waiting_.insert_or_assign(id, one.number); }
    void started(const SimJob&, JobId id, Instant) override { waiting_.erase(id); }
    void ended(const SimJob&, JobId, Instant) override {}
    void prioritize(Instant now, std::vector<std::pair<JobId, std::uint32_t>>& changed) override {
        for (const auto& [id, number] : waiting_) {
            const auto seconds = static_cast<std::uint64_t>(now.time_since_epoch().count() / 1'000'000);
            changed.emplace_back(id, 1 + (seconds * 7 + static_cast<std::uint64_t>(number) * 5) % 11);
        }
    }

  private:
    std::map<JobId, std::int64_t> waiting_;
};

const std::vector<std::string> policies = {"fcfs",   "first-fit",    "easy",           "easy-sjf",
                                           "hybrid", "conservative", "conservative-fw"};

}  // namespace

// Mutant: modules/replay/instance.cpp: event.userid = job->job.user; => ;
TEST_CASE("tree: limits of a partition hold, in all and for each user") {
    SimTree tree = test::tree_of({8});
    tree.partitions[0].limits = {3, {}, 1, {}};
    std::vector<SimJob> jobs;
    for (int i = 0; i < 8; i++) {
        jobs.push_back(job(i + 1, 0, 10, 1));
        jobs.back().user = static_cast<std::uint32_t>(i / 2);
    }
    const auto result = test::replay_tree(tree, jobs);
    CHECK(seconds_of(test::tree_starts(result, jobs.size())) == std::vector<std::int64_t>{0, 10, 0, 10, 0, 10, 20, 30});
}

// Mutant: modules/replay/tree_replay.cpp: a.start, a.place) > => b.start, a.place) >
TEST_CASE("tree: one partition of the whole machine starts every job when one pool does, under every policy") {
    draw::property("one partition, no delay, any depth", [] {
        const int cores = draw::in_range(1, 9);
        const auto jobs = test::any_workload(cores);
        const Policy policy = *policy_named(draw::element_of(policies));
        const auto result = test::replay_tree(test::tree_of({cores}, policy, draw::in_range(1, 40)), jobs);
        RC_ASSERT(test::tree_starts(result, jobs.size()) == *simulate(jobs, cores, policy));
    });
}

// Mutant: modules/replay/instance.cpp: static_cast<std::uint32_t>(order.priority) => 1U
// Mutant: modules/replay/root_queue.cpp: order_->ended(job, JobId{slot}, now); => {}
// Mutant: modules/replay/tree_replay.cpp: if (queue_.wants_order() || wake_ == now) { => if (queue_.wants_order()) {
TEST_CASE("tree: the same under an order by fair share and age") {
    draw::property("one partition under multifactor", [] {
        const int cores = draw::in_range(1, 9);
        const auto jobs = by_users(test::any_workload(cores));
        PolicySettings settings;
        settings.policy = PolicyKind::multifactor;
        settings.half_life = secs(60);
        settings.update_interval = secs(draw::element_of(std::vector<int>{0, 7}));
        settings.weights.wait = draw::element_of(std::vector<int>{0, 50});
        settings.weights.fairshare = 1000;
        const auto order = [&] { return *make_priority_order(settings, cores, LogShares::of_users()); };
        const auto one = order();
        const auto result = test::replay_tree(test::tree_of({cores}), jobs, one.get());
        const auto other = order();
        std::vector<Instant> expected(jobs.size(), never);
        std::size_t next = 0;
        const JobSource source = [&]() -> Result<std::optional<SimJob>> {
            return next < jobs.size() ? std::optional(jobs[next++]) : std::nullopt;
        };
        RC_ASSERT(simulate(cores, Easy{}, source, [&](const Outcome& o) { expected[o.place] = o.start; },
                           {.order = other.get()})
                      .has_value());
        RC_ASSERT(test::tree_starts(result, jobs.size()) == expected);
    });
}

// Mutant: modules/job-route/route_hand_down.cpp: takers.is_one = count == 1; => takers.is_one = partitions_.size() ==
// 1;
TEST_CASE("tree: two queues with a partition each start every job when two pools do, under every policy") {
    draw::property("any depth", [] {
        const std::vector<std::int64_t> cores = {draw::in_range(1, 9), draw::in_range(1, 9)};
        const Policy policy = *policy_named(draw::element_of(policies));
        SimTree tree = test::tree_of(cores, policy, draw::in_range(1, 4));
        tree.partitions[1].queues = {"other"};
        tree.queue_of = [](const SimJob& one) { return one.queue == 0 ? "all" : "other"; };
        const std::vector<std::vector<SimJob>> parts = {test::any_workload(static_cast<int>(cores[0])),
                                                        test::any_workload(static_cast<int>(cores[1]))};
        std::vector<SimJob> jobs;
        for (std::uint32_t queue = 0; queue < 2; queue++) {
            for (SimJob one : parts[queue]) {
                one.queue = queue;
                jobs.push_back(one);
            }
        }
        std::stable_sort(jobs.begin(), jobs.end(),
                         [](const SimJob& a, const SimJob& b) { return a.submit < b.submit; });
        const auto result = test::replay_tree(tree, jobs);
        const std::vector<Instant> starts = test::tree_starts(result, jobs.size());
        for (std::uint32_t queue = 0; queue < 2; queue++) {
            std::vector<Instant> mine;
            for (std::size_t i = 0; i < jobs.size(); i++) {
                if (jobs[i].queue == queue) {
                    mine.push_back(starts[i]);
                }
            }
            RC_ASSERT(mine == *simulate(parts[queue], cores[queue], policy));
        }
    });
}

// Mutant: modules/replay/instance.cpp: if (is_leaf() && what.is_allocated) { => if (is_leaf() && !what.is_allocated) {
// Mutant: modules/replay/tree_replay.cpp: static_cast<std::uint16_t>(leaf) => static_cast<std::uint16_t>(1)
TEST_CASE("tree: every job that a partition can hold runs once, on cores that are free, after it was submitted") {
    draw::property("random trees", [] {
        SimTree tree;
        const std::vector<std::string> queues = {"1", "2"};
        for (int i = 0, count = draw::in_range(1, 5); i < count; i++) {
            const std::size_t own = draw::in_range<std::size_t>(0, 2);
            const bool lends = draw::arbitrary<bool>();
            const std::vector<std::string> overflow = lends ? std::vector{queues[1 - own]} : std::vector<std::string>{};
            tree.partitions.push_back(
                {"p", draw::in_range(1, 7), {queues[own]}, overflow, *policy_named(draw::element_of(policies))});
        }
        tree.hand_down = draw::element_of(std::vector<int>{1, 2, 32});
        tree.link_delay = Duration{draw::element_of(std::vector<int>{0, 1'000, 1'500'000, 70'000'000})};
        tree.report_interval = secs(draw::element_of(std::vector<int>{0, 0, 5, 8}));
        tree.queue_of = [](const SimJob& one) { return std::to_string(one.number % 2 + 1); };
        const auto jobs = test::any_workload(7);
        const bool is_shuffled = draw::arbitrary<bool>();
        Shuffled order, another;
        const auto result = test::replay_tree(tree, jobs, is_shuffled ? &order : nullptr);
        const auto again = test::replay_tree(tree, jobs, is_shuffled ? &another : nullptr);
        RC_ASSERT(test::tree_starts(result, jobs.size()) == test::tree_starts(again, jobs.size()));
        RC_ASSERT(result.outcomes.size() + result.refused.size() == jobs.size());
        RC_ASSERT(result.counters.started == result.counters.ended);
        std::vector<std::map<Instant, std::int64_t>> changes(tree.partitions.size());
        for (const Outcome& outcome : result.outcomes) {
            RC_ASSERT(outcome.start >= outcome.job.submit + 3 * tree.link_delay);
            RC_ASSERT(outcome.job.cores == jobs[outcome.place].cores);
            auto& mine = changes.at(outcome.job.partition - 1U);
            mine[outcome.start] += outcome.job.cores;
            mine[outcome.end()] -= outcome.job.cores;
        }
        for (std::size_t i = 0; i < changes.size(); i++) {
            std::int64_t held = 0;
            for (const auto& [when, change] : changes[i]) {
                held += change;
                RC_ASSERT(held <= tree.partitions[i].cores);
            }
            RC_ASSERT(held == 0);
        }
    });
}

TEST_CASE("tree: a copy is let begin however often its job was recalled before") {
    using route::Order;
    const SimTree tree = test::tree_of({4});
    replay::Instance leaf(tree, &tree.partitions[0]);
    const auto tell = [&](Order::Kind kind, std::uint64_t id) {
        auto known = std::make_shared<replay::LogJob>();
        known->job = job(1, 0, 10, 4);
        known->place = id;
        Order order;
        order.kind = kind;
        order.id = route::JobId{id};
        order.priority = 1;
        leaf.take({{order, kind == Order::Kind::submit ? known : nullptr}});
        for (auto events = leaf.report(); !events.empty(); events = leaf.report()) {
            leaf.acked(events.back().seq);
        }
    };
    for (std::size_t i = 0; i <= route::EndedCopies::max; i++) {
        tell(Order::Kind::submit, 7);
        tell(Order::Kind::cancel, 7);
    }
    tell(Order::Kind::submit, 7);
    tell(Order::Kind::submit, 8);
    tell(Order::Kind::cancel, 8);
    CHECK(leaf.pass(at(0)));
    (void)leaf.take_news();
    tell(Order::Kind::go, 7);
    const auto news = leaf.take_news();
    REQUIRE(news.size() == 1);
    CHECK(news[0].kind == replay::News::Kind::started);
    CHECK(news[0].job->place == 7);
}

TEST_CASE("tree: two partitions, by hand") {
    // Eight cores in one pool would start all but job 4 at once. Two partitions of four: jobs 1 and 2 (three cores
    // each) take one each, job 3 (two cores) has no room in either, though two cores are free.
    const std::vector<SimJob> jobs = {job(1, 0, 100, 3), job(2, 0, 60, 3), job(3, 1, 10, 2), job(4, 2, 10, 4)};
    const auto result = test::replay_tree(test::tree_of({4, 4}), jobs);
    CHECK(seconds_of(test::tree_starts(result, 4)) == std::vector<std::int64_t>{0, 0, 60, 70});
    CHECK(result.outcomes.at(2).job.partition == 2);
}

// Mutant: modules/replay/tree_replay.cpp: message.at = counters_.now + tree_.link_delay; => message.at = counters_.now;
TEST_CASE("tree: a link takes its time five times before a job starts, since one report is under way at a time") {
    SimTree tree = test::tree_of({4});
    tree.link_delay = secs(2);
    // Job 1 is there at 2, which is reported. That it has cores is reported when the answer is there, at 6, and known
    // at 8; at 10 it may begin. When it ends at 20, job 2 gets its cores, and the same follows.
    const auto result = test::replay_tree(tree, {job(1, 0, 10, 4), job(2, 1, 10, 4)});
    CHECK(seconds_of(test::tree_starts(result, 2)) == std::vector<std::int64_t>{10, 28});
}

// Mutant: modules/job-route/hand_down.hpp: ticks > stuck_after_max ? ticks : 0; => ticks > 9 * stuck_after_max ? 1 : 0;
// Mutant: modules/replay/instance.cpp: 4 * tree.link_delay + tree.report_interval + => 4 * tree.link_delay +
TEST_CASE("tree: of several partitions the one that has a job keeps it while messages are on the way, however slow") {
    SimTree tree = test::tree_of({4, 4});
    SECTION("a slow link") {
        for (const Duration delay : {std::chrono::milliseconds(2100), std::chrono::milliseconds(5000),
                                     std::chrono::milliseconds(60'000), std::chrono::milliseconds(600'000)}) {
            tree.link_delay = delay;
            const auto result = test::replay_tree(tree, {job(1, 10, 100, 4)});
            CHECK(test::tree_starts(result, 1) == std::vector{at(10) + 5 * delay});
        }
    }
    SECTION("rare reports") {
        tree = test::tree_of({4, 4, 4, 4});
        tree.link_delay = std::chrono::milliseconds(5);
        tree.report_interval = secs(8);
        const auto result = test::replay_tree(tree, {job(1, 2, 100, 4)});
        CHECK(test::tree_starts(result, 1) == std::vector{at(8) + 2 * tree.link_delay});
    }
}

TEST_CASE("tree: a partition that reports every ten seconds lets jobs wait for that") {
    SimTree tree = test::tree_of({4});
    tree.report_interval = secs(10);
    const auto result = test::replay_tree(tree, {job(1, 1, 5, 4), job(2, 20, 5, 4)});
    CHECK(seconds_of(test::tree_starts(result, 2)) == std::vector<std::int64_t>{10, 20});
}

TEST_CASE("tree: what no partition of its queue can hold is refused and named, and the others run") {
    SimTree tree = test::tree_of({4, 2});
    tree.partitions[1].queues = {"small"};
    tree.queue_of = [](const SimJob& one) { return one.queue == 0 ? "all" : one.queue == 1 ? "small" : "none"; };
    std::vector<SimJob> jobs = {job(1, 0, 10, 5), job(2, 0, 10, 3), job(3, 0, 10, 4), job(4, 0, 10, 1)};
    jobs[1].queue = 1;
    jobs[3].queue = 2;
    const auto result = test::replay_tree(tree, jobs);
    CHECK(result.refused == std::vector<std::string>{"job 1 wants 5 cores; the largest partition of queue all has 4",
                                                     "job 2 wants 3 cores; the largest partition of queue small has 2",
                                                     "job 4 is of queue none"});
    CHECK(seconds_of(test::tree_starts(result, 4)) == std::vector<std::int64_t>{-1, -1, 0, -1});
}

// Mutant: modules/replay/instance.cpp: waiting_ > 0 ? table_.next_move() => waiting_ > 9 ? table_.next_move()
TEST_CASE("tree: a job that is refused changes no other job's start, and neither does a second that moves nothing") {
    draw::property("partitions of one queue", [] {
        const std::vector<std::int64_t> cores = {draw::in_range(2, 9), draw::in_range(2, 9)};
        const Policy policy = *policy_named(draw::element_of(policies));
        const SimTree tree = test::tree_of(cores, policy, draw::in_range(1, 4));
        std::vector<SimJob> jobs = test::any_workload(static_cast<int>(std::min(cores[0], cores[1])));
        for (SimJob& one : jobs) {  // much longer than job-route has patience
            one.run *= 30;
            one.limit *= 30;
        }
        const std::vector<Instant> expected = test::tree_starts(test::replay_tree(tree, jobs), jobs.size());
        std::vector<SimJob> more;
        for (const SimJob& one : jobs) {
            more.push_back(one);
            for (int i = draw::in_range(0, 3); i > 0; i--) {
                more.push_back(job(0, 0, 1, 9));
                more.back().submit = one.submit + secs(draw::in_range(0, 900));
            }
        }
        std::stable_sort(more.begin(), more.end(),
                         [](const SimJob& a, const SimJob& b) { return a.submit < b.submit; });
        const std::vector<Instant> starts = test::tree_starts(test::replay_tree(tree, more), more.size());
        std::vector<Instant> mine;
        for (std::size_t i = 0; i < more.size(); i++) {
            if (more[i].cores < 9) {
                mine.push_back(starts[i]);
            }
        }
        RC_ASSERT(mine == expected);
    });
}

// Mutant: modules/replay/instance.cpp: one.overflow, one.cores, => {}, one.cores,
TEST_CASE("tree: a partition runs the jobs of another queue while none of its own waits") {
    SimTree tree = test::tree_of({4, 4});
    tree.partitions[1].queues = {"other"};
    tree.partitions[1].overflow = {"all"};
    tree.queue_of = [](const SimJob& one) { return one.queue == 0 ? "all" : "other"; };
    std::vector<SimJob> jobs = {job(1, 0, 100, 4), job(2, 1, 50, 4), job(3, 2, 10, 4)};
    jobs[2].queue = 1;
    const auto result = test::replay_tree(tree, jobs);
    CHECK(seconds_of(test::tree_starts(result, 3)) == std::vector<std::int64_t>{0, 1, 51});
    CHECK(result.outcomes.at(1).job.partition == 2);
}

// Mutant: modules/replay/instance.cpp: one.cores, one.rules, => one.cores, {},
TEST_CASE("tree: a partition takes what its rules say, and what none takes is refused") {
    SimTree tree = test::tree_of({4, 4});
    tree.partitions[0].rules.duration.most = secs(100);
    tree.partitions[1].rules.cores.most = 2;
    std::vector<SimJob> jobs = {job(1, 0, 50, 4), job(2, 0, 50, 4), job(3, 0, 500, 2), job(4, 0, 500, 3)};
    for (SimJob& one : jobs) {
        one.limit = one.run;
    }
    const auto result = test::replay_tree(tree, jobs);
    CHECK(seconds_of(test::tree_starts(result, 4)) == std::vector<std::int64_t>{0, 50, 0, -1});
    REQUIRE(result.refused.size() == 1);
    CHECK(result.refused[0].find("job 4 is refused: no partition of the queue all takes this job: ") == 0);
    CHECK(result.refused[0].find("takes at most 2 cores (it asks for 3 cores)") != std::string::npos);
}

TEST_CASE("tree: a job that backfill leaves behind goes to the partition that has room") {
    // Both jobs 1 and 2 run. Job 3 wants all of a partition and job 4, which fits the one core beside job 1, would
    // delay it there. At 20 job 2 ends. Job 3 takes that partition, and job 4 starts, since nothing is reserved any
    // more.
    const std::vector<SimJob> jobs = {job(1, 0, 100, 3), job(2, 0, 20, 4), job(3, 1, 10, 4), job(4, 2, 500, 1)};
    const auto result = test::replay_tree(test::tree_of({4, 4}), jobs);
    const auto starts = seconds_of(test::tree_starts(result, 4));
    CHECK(starts[2] == 20);
    CHECK(starts[3] <= 20);
}

TEST_CASE("tree: a replay can be watched and stopped") {
    SimControl control;
    control.every = 1;
    control.progress = [](const SimCounters& counters) { return counters.started < 1; };
    SimTreeHooks hooks;
    hooks.common.control = &control;
    std::size_t next = 0;
    std::vector<Outcome> outcomes;
    const JobSource source = [&]() -> Result<std::optional<SimJob>> {
        return next < 5 ? std::optional(job(static_cast<std::int64_t>(++next), 10, 10, 4)) : std::nullopt;
    };
    const SimTree tree = test::tree_of({4});
    const auto done = simulate_tree(
        tree, source, [&](const Outcome& o) { outcomes.push_back(o); }, hooks);
    REQUIRE(done.has_value());
    CHECK(done->interrupted);
    CHECK(outcomes.size() == 1);
    next = 0;
    const auto backwards = simulate_tree(
        tree,
        [&]() -> Result<std::optional<SimJob>> {
            return std::optional(job(1, 9 - static_cast<std::int64_t>(next++), 1, 1));
        },
        [](const Outcome&) {});
    REQUIRE_FALSE(backwards.has_value());
    CHECK(backwards.error().message == "job 1 was submitted before the job that precedes it");
}
