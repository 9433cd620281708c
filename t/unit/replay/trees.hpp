// SPDX-License-Identifier: LGPL-3.0-only
// Replays over a tree for tests: jobs in, outcomes in the order in which they started out.
#pragma once
#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "modules/replay/tree_replay.hpp"
#include "t/unit/libsched/workload.hpp"

namespace weir::test {

/// Partitions of these cores under one policy, all of the queue "all".
inline SimTree tree_of(const std::vector<std::int64_t>& cores, const Policy& policy = Easy{},
                       std::int64_t depth = route::HandDown::depth_default) {
    SimTree tree;
    for (std::size_t i = 0; i < cores.size(); i++) {
        tree.partitions.push_back({"p" + std::to_string(i + 1), cores[i], {"all"}, {}, policy});
    }
    tree.hand_down = depth;
    tree.queue_of = [](const SimJob&) { return std::string("all"); };
    return tree;
}

struct TreeResult {
    std::vector<Outcome> outcomes;
    std::vector<std::string> refused;
    SimCounters counters;
};

inline TreeResult replay_tree(const SimTree& tree, const std::vector<SimJob>& jobs, QueueOrder* order = nullptr) {
    TreeResult result;
    std::size_t next = 0;
    const JobSource source = [&]() -> Result<std::optional<SimJob>> {
        return next < jobs.size() ? std::optional(jobs[next++]) : std::nullopt;
    };
    SimControl control;  // a replay that does not end fails
    control.progress = [looks = 0](const SimCounters&) mutable { return ++looks < 100; };
    SimTreeHooks hooks;
    hooks.common.control = &control;
    hooks.common.order = order;
    hooks.refused = [&](const SimJob& job, const Refusal& refusal) {
        result.refused.push_back("job " + std::to_string(job.number) + " " + refusal.why);
    };
    const auto done = simulate_tree(
        tree, source, [&](const Outcome& outcome) { result.outcomes.push_back(outcome); }, hooks);
    REQUIRE(done.has_value());
    REQUIRE_FALSE(done->interrupted);
    result.counters = *done;
    return result;
}

inline SimJob job(std::int64_t number, std::int64_t submit, std::int64_t run, std::uint32_t cores) {
    SimJob one;
    one.number = number;
    one.submit = at(submit);
    one.run = one.limit = secs(run);
    one.cores = cores;
    return one;
}

inline std::vector<std::int64_t> seconds_of(const std::vector<Instant>& starts) {
    std::vector<std::int64_t> seconds;
    for (const Instant start : starts) {
        seconds.push_back(start == never ? -1 : start.time_since_epoch().count() / 1'000'000);
    }
    return seconds;
}

/// By place in the log; `never`: it did not start.
inline std::vector<Instant> tree_starts(const TreeResult& result, std::size_t jobs) {
    std::vector<Instant> starts(jobs, never);
    for (const Outcome& outcome : result.outcomes) {
        starts.at(outcome.place) = outcome.start;
    }
    return starts;
}

}  // namespace weir::test
