// SPDX-License-Identifier: LGPL-3.0-only
// A log over partitions of partitions: against the single pool, against schedules worked out by hand, and what must
// hold of any tree.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "libsched/sim/priority_order.hpp"
#include "t/unit/draws.hpp"
#include "t/unit/libsched/workload.hpp"
#include "t/unit/replay/trees.hpp"

using namespace weir;
using test::at;
using test::job;
using test::seconds_of;
using test::secs;

namespace {

const std::vector<std::string> policies = {"fcfs",   "first-fit",    "easy",           "easy-sjf",
                                           "hybrid", "conservative", "conservative-fw"};

/// The partitions of `tree` become those of one partition, which has all their cores.
SimTree wrapped(SimTree tree) {
    SimPartition around{"around", 0, {}, {}};
    for (const SimPartition& one : tree.partitions) {
        around.cores += one.cores;
        around.queues.insert(around.queues.end(), one.queues.begin(), one.queues.end());
    }
    around.partitions = std::move(tree.partitions);
    tree.partitions = {around};
    return tree;
}

/// One queue: a partition with two partitions, and one beside it.
SimTree two_and_one(std::int64_t left, std::int64_t right, std::int64_t beside) {
    SimTree tree = wrapped(test::tree_of({left, right}));
    tree.partitions.push_back({"beside", beside, {"all"}, {}});
    return tree;
}

/// Keeps what it is told.
class Witness final : public QueueOrder {
  public:
    void submitted(const SimJob&, JobId, Instant) override {}
    void started(const SimJob& one, JobId, Instant now) override { used_since[one.number] = now; }
    void ended(const SimJob& one, JobId, Instant now) override {
        core_seconds += one.cores * (now - used_since.at(one.number)).count() / 1'000'000;
    }
    void prioritize(Instant, std::vector<std::pair<JobId, std::uint32_t>>&) override {}

    std::map<std::int64_t, Instant> used_since;
    std::int64_t core_seconds = 0;
};

/// Partitions that `tree` has in all, by number, and those in which they are.
struct Numbered {
    const SimPartition* partition;
    std::size_t above;  ///< 0: none
};
void number(const std::vector<SimPartition>& partitions, std::size_t above, std::vector<Numbered>& into) {
    for (const SimPartition& one : partitions) {
        into.push_back({&one, above});
        number(one.partitions, into.size() - 1, into);
    }
}

std::vector<SimPartition> any_partitions(int levels) {
    std::vector<SimPartition> partitions;
    for (int i = 0, count = draw::in_range(1, 3); i < count; i++) {
        SimPartition one{"p" + std::to_string(i), draw::in_range(1, 7), {}, {}};
        one.scheduler = *policy_named(draw::element_of(policies));
        one.queues = draw::element_of(std::vector<std::vector<std::string>>{{"1"}, {"2"}, {"1", "2"}, {"1", "2"}});
        if (levels > 1 && draw::arbitrary<bool>()) {
            one.partitions = any_partitions(levels - 1);
            one.cores = 0;
            for (const SimPartition& inner : one.partitions) {
                one.cores += inner.cores;
            }
        }
        partitions.push_back(one);
    }
    return partitions;
}

}  // namespace

// Mutant: modules/replay/tree_replay.cpp: is_news = act(middle) || is_news; => ;
// Mutant: modules/replay/instance.cpp: table_.allow_go(route::JobId{op.job.value}); => {}
TEST_CASE("deep tree: one partition at each level starts every job when one pool does, under every policy") {
    draw::property("one to four levels, no delay, any depth", [] {
        const int cores = draw::in_range(1, 9);
        const auto jobs = test::any_workload(cores);
        const Policy policy = *policy_named(draw::element_of(policies));
        SimTree tree = test::tree_of({cores}, policy, draw::in_range(1, 40));
        for (int more = draw::in_range(1, 3); more > 0; more--) {
            tree = wrapped(tree);
        }
        const auto result = test::replay_tree(tree, jobs);
        RC_ASSERT(test::tree_starts(result, jobs.size()) == *simulate(jobs, cores, policy));
    });
}

// Mutant: modules/replay/instance.cpp: set_priority(id, value); => ;
TEST_CASE("deep tree: the same under an order by fair share and age: each partition follows the root") {
    draw::property("one partition of one partition under multifactor", [] {
        const int cores = draw::in_range(1, 9);
        auto jobs = test::any_workload(cores);
        for (std::size_t i = 0; i < jobs.size(); i++) {
            jobs[i].user = 1 + static_cast<std::uint32_t>(i * i % 7 % 4);
        }
        PolicySettings settings;
        settings.policy = PolicyKind::multifactor;
        settings.half_life = secs(60);
        settings.update_interval = secs(draw::element_of(std::vector<int>{0, 7}));
        settings.weights.wait = draw::element_of(std::vector<int>{0, 50});
        settings.weights.fairshare = 1000;
        const auto starts = [&](const SimTree& tree) {
            const auto order = *make_priority_order(settings, cores, LogShares::of_users());
            return test::tree_starts(test::replay_tree(tree, jobs, order.get()), jobs.size());
        };
        const SimTree flat = test::tree_of({cores});
        RC_ASSERT(starts(wrapped(flat)) == starts(flat));
    });
}

TEST_CASE("deep tree: two partitions of a partition and one beside them, by hand") {
    // Jobs 1 and 2 (three cores each) fill the partition of four and one inner partition of four; job 3 takes the
    // other. Job 4 wants four cores: the first partition that has them is that of job 2.
    const std::vector<SimJob> jobs = {job(1, 0, 100, 3), job(2, 0, 60, 3), job(3, 0, 90, 3), job(4, 1, 10, 4)};
    const auto result = test::replay_tree(two_and_one(4, 4, 4), jobs);
    CHECK(seconds_of(test::tree_starts(result, 4)) == std::vector<std::int64_t>{0, 0, 0, 60});
    std::vector<std::uint16_t> ran;
    for (const Outcome& outcome : result.outcomes) {
        ran.push_back(outcome.job.partition);
    }
    std::sort(ran.begin(), ran.end() - 1);
    CHECK(std::vector<std::uint16_t>(ran.begin(), ran.end() - 1) == std::vector<std::uint16_t>{2, 3, 4});
    CHECK(std::find_if(result.outcomes.begin(), result.outcomes.end(), [](const Outcome& one) {
              return one.job.number == 2;
          })->job.partition == result.outcomes.back().job.partition);
}

// Mutant: modules/replay/instance.cpp: (height - 1) * (2 * => (height - height) * (2 *
TEST_CASE("deep tree: each level takes three messages more, and the job stays where it is meanwhile") {
    for (const std::int64_t delay : {3, 60, 600}) {
        const auto starts = [&](SimTree tree, std::size_t count) {
            tree.link_delay = secs(delay);
            std::vector<SimJob> jobs;
            for (std::size_t i = 0; i < count; i++) {
                jobs.push_back(job(static_cast<std::int64_t>(i) + 1, 10, 100, 4));
            }
            auto all = seconds_of(test::tree_starts(test::replay_tree(tree, jobs), count));
            std::sort(all.begin(), all.end());
            return all;
        };
        CHECK(starts(wrapped(test::tree_of({4, 4})), 1) == std::vector{10 + 8 * delay});
        CHECK(starts(two_and_one(4, 4, 4), 1) == std::vector{10 + 8 * delay});
        CHECK(starts(two_and_one(4, 4, 4), 3) == std::vector{10 + 5 * delay, 10 + 8 * delay, 10 + 8 * delay});
        CHECK(starts(wrapped(wrapped(test::tree_of({4, 4}))), 1) == std::vector{10 + 11 * delay});
    }
}

// Mutant: modules/replay/instance.cpp: link_.submit_failed(order.id, why->why, false); => ;
TEST_CASE("deep tree: a partition returns what none of its own can hold, and the job runs beside it") {
    SimTree tree = two_and_one(4, 4, 6);
    const auto result = test::replay_tree(tree, {job(1, 0, 50, 5), job(2, 0, 50, 5), job(3, 1, 10, 7)});
    CHECK(seconds_of(test::tree_starts(result, 3)) == std::vector<std::int64_t>{0, 50, -1});
    CHECK(result.refused == std::vector<std::string>{"job 3 wants 7 cores; the largest partition of queue all has 6"});
    CHECK(result.outcomes.at(0).job.partition == 4);
}

// Mutant: modules/replay/refusal.cpp: name + "/", facts, user => "", facts, user
TEST_CASE("deep tree: rules, queues and limits hold at every level") {
    SimTree tree = two_and_one(4, 4, 4);
    tree.queue_of = [](const SimJob& one) { return one.queue == 0 ? "all" : "other"; };
    tree.partitions[0].queues = {"all", "other"};
    SECTION("rules of an inner partition") {
        tree.partitions.pop_back();
        tree.partitions[0].partitions[0].rules.duration.most = secs(100);
        tree.partitions[0].partitions[1].rules.cores.most = 2;
        const auto result =
            test::replay_tree(tree, {job(1, 0, 50, 4), job(2, 0, 50, 4), job(3, 0, 500, 2), job(4, 0, 500, 3)});
        CHECK(seconds_of(test::tree_starts(result, 4)) == std::vector<std::int64_t>{0, 50, 0, -1});
        REQUIRE(result.refused.size() == 1);
        CHECK(result.refused[0].find("around/p2 takes at most 2 cores") != std::string::npos);
    }
    SECTION("rules around them") {
        tree.partitions[0].rules.duration.most = secs(100);
        const auto result = test::replay_tree(tree, {job(1, 0, 500, 4), job(2, 0, 500, 4), job(3, 1, 50, 4)});
        CHECK(seconds_of(test::tree_starts(result, 3)) == std::vector<std::int64_t>{0, 500, 1});
    }
    SECTION("a queue that no inner partition serves") {
        std::vector<SimJob> jobs = {job(1, 0, 50, 1), job(2, 0, 50, 1)};
        jobs[1].queue = 1;
        const auto result = test::replay_tree(tree, jobs);
        CHECK(result.refused == std::vector<std::string>{"job 2 is of queue other"});
        CHECK(result.counters.started == 1);
    }
    SECTION("limits of an inner partition, for each user") {
        tree.partitions.pop_back();
        tree.partitions[0].partitions.pop_back();
        tree.partitions[0].partitions[0].limits = {3, {}, 1, {}};
        std::vector<SimJob> jobs;
        for (int i = 0; i < 8; i++) {
            jobs.push_back(job(i + 1, 0, 10, 1));
            jobs.back().user = static_cast<std::uint32_t>(i / 2);
        }
        CHECK(seconds_of(test::tree_starts(test::replay_tree(tree, jobs), jobs.size())) ==
              std::vector<std::int64_t>{0, 10, 0, 10, 0, 10, 20, 30});
    }
}

// Mutant: modules/replay/instance.cpp: facts.upstream_userid = above->userid; => ;
// Mutant: modules/replay/instance.cpp: if (is_leaf() || !what.is_allocated) { => if (is_leaf()) {
TEST_CASE("deep tree: every job that can be held runs once, on cores that are free, and the root counts its use") {
    draw::property("random trees of up to three levels", [] {
        SimTree tree;
        tree.partitions = any_partitions(3);
        tree.hand_down = draw::element_of(std::vector<int>{1, 2, 32});
        tree.link_delay = Duration{draw::element_of(std::vector<int>{0, 1'000, 1'500'000, 70'000'000})};
        tree.report_interval = secs(draw::element_of(std::vector<int>{0, 0, 5, 8}));
        tree.queue_of = [](const SimJob& one) { return std::to_string(one.number % 2 + 1); };
        const auto jobs = test::any_workload(7);
        Witness root, another;
        const auto result = test::replay_tree(tree, jobs, &root);
        const auto again = test::replay_tree(tree, jobs, &another);
        RC_ASSERT(test::tree_starts(result, jobs.size()) == test::tree_starts(again, jobs.size()));
        RC_ASSERT(result.outcomes.size() + result.refused.size() == jobs.size());
        RC_ASSERT(result.counters.started == result.counters.ended);
        std::vector<Numbered> partitions = {{nullptr, 0}};
        number(tree.partitions, 0, partitions);
        std::vector<std::map<Instant, std::int64_t>> changes(partitions.size());
        std::int64_t used = 0;
        for (const Outcome& outcome : result.outcomes) {
            RC_ASSERT(outcome.start >= outcome.job.submit + 3 * tree.link_delay);
            RC_ASSERT(partitions.at(outcome.job.partition).partition->partitions.empty());
            for (std::size_t i = outcome.job.partition; i > 0; i = partitions[i].above) {
                changes[i][outcome.start] += outcome.job.cores;
                changes[i][outcome.end()] -= outcome.job.cores;
            }
            used += outcome.job.cores * (outcome.end() - outcome.start).count() / 1'000'000;
        }
        for (std::size_t i = 1; i < partitions.size(); i++) {
            std::int64_t held = 0;
            for (const auto& [when, change] : changes[i]) {
                held += change;
                RC_ASSERT(held <= partitions[i].partition->cores);
            }
            RC_ASSERT(held == 0);
        }
        if (tree.link_delay == Duration{} && tree.report_interval == Duration{}) {
            RC_ASSERT(root.core_seconds == used);
        }
    });
}
