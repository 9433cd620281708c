// SPDX-License-Identifier: LGPL-3.0-only
#include "libfairshare/usage/lsf_history.hpp"

#include <catch2/catch.hpp>

#include "t/unit/libfairshare/support.hpp"

using namespace weir;
using namespace weir::testing;
using namespace std::chrono_literals;

namespace {

constexpr NodeId leaf{1};

LsfHistorySettings counting() {
    LsfHistorySettings settings;
    settings.enable_hist_run_time = true;
    return settings;
}

bool is_near(double got, double expected) {
    return relative_error(got, expected) < 1e-9;
}

}  // namespace

TEST_CASE("LSF history: an hour counts a tenth after HIST_HOURS") {
    LsfHistory history{2, counting()};
    history.cpu_used(leaf, 3600000000U, second(0), second(0));
    history.start(leaf, {}, second(-3600));
    history.end(leaf, {}, second(-3600), second(0));
    CHECK(is_near(history.use(leaf, second(0)).cpu_time_h, 1.0));
    CHECK(is_near(history.use(leaf, second(5 * 3600)).cpu_time_h, 0.1));
    CHECK(is_near(history.use(leaf, second(10 * 3600)).hist_run_time_h, 0.01));
}

TEST_CASE("LSF history: HIST_HOURS 0 forgets nothing") {
    LsfHistorySettings settings = counting();
    settings.hist_hours = 0;
    LsfHistory history{2, settings};
    history.cpu_used(leaf, 3600000000U, second(0), second(1800));
    CHECK(history.use(leaf, second(1e8)).cpu_time_h == 1.0);
}

TEST_CASE("LSF history: a running job counts slots, run time and what it committed; ended, its history") {
    LsfHistory history{2, counting()};
    const LsfJob job{4, 2, 2h};
    history.start(leaf, job, second(0));
    const DynamicUse running = history.use(leaf, second(3600));
    CHECK(running.job_slots == 4);
    CHECK(running.run_time_h == 4);
    CHECK(running.committed_run_time_h == 8);
    CHECK(running.gpu_run_time_h == 2);
    CHECK(running.hist_run_time_h == 0);
    history.end(leaf, job, second(0), second(3600));
    const DynamicUse ended = history.use(leaf, second(3600));
    CHECK(ended.job_slots == 0);
    CHECK(ended.run_time_h == 0);
    CHECK(ended.committed_run_time_h == 0);
    CHECK(ended.gpu_run_time_h == 0);
    CHECK(is_near(ended.hist_run_time_h, 4));
}

TEST_CASE("LSF history: finished jobs' run time is recorded while it does not count") {
    LsfHistory history{2, {}};
    history.start(leaf, {}, second(0));
    history.end(leaf, {}, second(0), second(3600));
    CHECK(history.use(leaf, second(3600)).hist_run_time_h == 0);
    history.set_settings(counting(), second(3600));
    CHECK(is_near(history.use(leaf, second(3600)).hist_run_time_h, 1));
}

TEST_CASE("LSF history: run time of running jobs decays where the site says so") {
    LsfHistorySettings settings = counting();
    settings.run_time_decay = true;
    LsfHistory history{2, settings};
    history.start(leaf, {}, second(0));
    // tau (1 - 10^-2) with tau = HIST_HOURS / ln 10
    CHECK(is_near(history.use(leaf, second(36000)).run_time_h, 5 / std::log(10.0) * 0.99));
    history.end(leaf, {}, second(0), second(36000));
    CHECK(is_near(history.use(leaf, second(36000)).hist_run_time_h, 5 / std::log(10.0) * 0.99));
}

TEST_CASE("LSF history: a parallel job counts its slots in run time, or itself once") {
    LsfHistorySettings settings;
    settings.counts_cpus = false;
    settings.counts_jobs = true;
    LsfHistory history{2, settings};
    history.start(leaf, {16, 0, 1h}, second(0));
    const DynamicUse use = history.use(leaf, second(3600));
    CHECK(use.run_time_h == 1);
    CHECK(use.committed_run_time_h == 1);
    CHECK(use.job_slots == 1);
}

TEST_CASE("LSF history: another HIST_HOURS keeps what history is worth") {
    LsfHistory history{2, counting()};
    history.cpu_used(leaf, 360000000000U, second(0), second(0));
    history.start(leaf, {}, second(0));
    const DynamicUse before = history.use(leaf, second(9000));
    LsfHistorySettings settings = counting();
    settings.hist_hours = 1;
    settings.run_time_decay = true;
    history.set_settings(settings, second(9000));
    CHECK(is_near(history.use(leaf, second(9000)).cpu_time_h, before.cpu_time_h));
    CHECK(is_near(history.use(leaf, second(9000)).run_time_h, before.run_time_h));
    CHECK(is_near(history.use(leaf, second(12600)).cpu_time_h, before.cpu_time_h / 10));
}

TEST_CASE("LSF history: accounts have the sum of their users") {
    const ShareTree tree = tree_of({{"g", 1}, {"g/@a", 1}, {"g/@b", 1}, {"@c", 1}});
    LsfHistory history{tree.size(), counting()};
    history.start(at(tree, "g/@a"), {2, 0, {}}, second(0));
    history.start(at(tree, "g/@b"), {3, 0, {}}, second(0));
    history.start(at(tree, "@c"), {5, 0, {}}, second(0));
    std::vector<DynamicUse> use;
    history.snapshot(tree, second(3600), use);
    CHECK(use[at(tree, "g").value].job_slots == 5);
    CHECK(use[root_node.value].run_time_h == 10);
}

TEST_CASE("LSF history: settings and states out of range are refused") {
    const ShareTree tree = tree_of({{"@a", 1}});
    LsfHistorySettings settings;
    settings.hist_hours = -1;
    CHECK(settings.validate().error().message == "HIST_HOURS must be 0 (no decay) or from 0.001 to 876600 hours");
    LsfHistory history{tree.size(), {}};
    history.start(leaf, {}, second(0));
    LsfHistoryState state = history.save(tree);
    CHECK(LsfHistory::restore(tree, state)->save(tree) == state);
    state.payers[0].path = "@nobody";
    CHECK(LsfHistory::restore(tree, state).error().message == "LSF history: \"@nobody\" is no leaf of the tree");
    state = history.save(tree);
    state.payers[0].numbers[0].high = INT64_MAX;
    CHECK_FALSE(LsfHistory::restore(tree, state));
    state = history.save(tree);
    state.payers[0].numbers.pop_back();
    CHECK_FALSE(LsfHistory::restore(tree, state));
}
