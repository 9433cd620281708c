// SPDX-License-Identifier: LGPL-3.0-only
#include "libfairshare/usage/charging.hpp"

#include <catch2/catch.hpp>

#include "libfairshare/usage/metric.hpp"
#include "libfairshare/usage/resource_usage.hpp"
#include "libfairshare/usage/step_decay.hpp"
#include "libfairshare/usage/window.hpp"
#include "t/unit/libfairshare/support.hpp"

using namespace weir;
using namespace weir::testing;
using namespace std::chrono_literals;

TEST_CASE("charging: at dispatch the whole request counts at once, at the end what ran") {
    const ChargedJob job{NodeId{1}, 10, second(0), 1h};
    UsageLedger prepaid{tree_ptr_of({{"@a", 1}}), Duration{100h}};
    UsageLedger running = prepaid;
    charge_start(prepaid, Charging::at_dispatch, job);
    charge_start(running, Charging::as_it_runs, job);
    CHECK(core_seconds(prepaid.usage(job.payer, second(0))) == 36000);
    CHECK(running.usage(job.payer, second(0)) == 0);
    charge_end(prepaid, Charging::at_dispatch, job, second(1200));
    charge_end(running, Charging::as_it_runs, job, second(1200));
    CHECK(prepaid.usage(job.payer, second(5000)) == running.usage(job.payer, second(5000)));
    CHECK(prepaid.charged(job.payer, second(5000)) == running.charged(job.payer, second(5000)));
}

TEST_CASE("charging: windows are charged at dispatch as well") {
    const ChargedJob job{NodeId{1}, 10, second(0), 48h};
    WindowLedger ledger{2, {24h, 4, 0.5}};
    charge_start(ledger, Charging::at_dispatch, job);
    CHECK(core_seconds(ledger.usage(job.payer, second(0))) == 10 * 48 * 3600);
    charge_end(ledger, Charging::at_dispatch, job, second(60));
    CHECK(core_seconds(ledger.usage(job.payer, second(60))) == 600);
}

TEST_CASE("charging: a job without a limit is charged as it runs") {
    const ChargedJob job{NodeId{1}, 10, second(0), {}};
    UsageLedger ledger{tree_ptr_of({{"@a", 1}}), Duration{0}};
    charge_start(ledger, Charging::at_dispatch, job);
    CHECK(core_seconds(ledger.usage(job.payer, second(60))) == 600);
}

TEST_CASE("metric: FSPOLICY names what counts and what its percent sign means") {
    const auto available = usage_policy_named("DEDICATEDPES%", PercentSuffix::of_available);
    CHECK(available->metric == UsageMetric::dedicated_pes);
    CHECK(available->is_of_available);
    CHECK_FALSE(available->is_target_ratio);
    CHECK(usage_policy_named("UTILIZEDPS%", PercentSuffix::target_ratio)->is_target_ratio);
    CHECK_FALSE(usage_policy_named("DEDICATEDPS", PercentSuffix::target_ratio)->is_target_ratio);
    CHECK(usage_policy_named("DEDICATED", PercentSuffix::of_available).error().message ==
          "unknown FSPOLICY \"DEDICATED\"; known are NONE, DEDICATEDPS, DEDICATEDPES, UTILIZEDPS, each with or "
          "without a % behind it");
}

TEST_CASE("metric: processor-equivalents are the dearest resource's part of the processors") {
    const std::vector<HeldResource> held{{32, 128}, {512, 1024}, {1, 0}};
    CHECK(processor_equivalents(held, 128) == 64);
    const JobConsumption job{32, 64, 20};
    CHECK(charged_processors(UsageMetric::none, job) == 0);
    CHECK(charged_processors(UsageMetric::dedicated_ps, job) == 32);
    CHECK(charged_processors(UsageMetric::dedicated_pes, job) == 64);
    CHECK(charged_processors(UsageMetric::utilized_ps, job) == 20);
}

TEST_CASE("resource usage: each resource decays by its own half-life and is billed by its weight") {
    auto made =
        ResourceUsage::make(tree_ptr_of({{"g", 1}, {"g/@a", 1}}),
                            {{"cpu", Duration{1h}, 1.0}, {"gpu", Duration{0}, 10.0}, {"mem", std::nullopt, 0.5}});
    ResourceUsage usage = std::move(made).value();
    const NodeId a{2};
    const std::vector<std::int64_t> amounts{8, 1, 16};
    usage.start(a, amounts, second(0));
    CHECK(core_seconds(usage.usage(2, a, second(100))) == 1600);  // while it runs
    usage.end(a, amounts, second(0), second(1));
    CHECK(usage.usage(2, a, second(1)) == 0);  // and no more
    CHECK(core_seconds(usage.usage(1, a, second(1e7))) == 1);
    CHECK(relative_error(core_seconds(usage.usage(0, a, second(3600.5))), 4) < 1e-6);
    std::vector<CoreMicros> bill;
    usage.snapshot(second(3600.5), bill);
    CHECK(relative_error(core_seconds(bill[a.value]), 4 + 10) < 1e-6);
    CHECK(bill[1] == bill[a.value]);
    CHECK(bill[0] == bill[a.value]);
}

TEST_CASE("resource usage: another half-life for one resource keeps its usage and the others'") {
    ResourceUsage usage =
        ResourceUsage::make(tree_ptr_of({{"@a", 1}}), {{"cpu", Duration{1h}, 1.0}, {"gpu", Duration{2h}, 1.0}}).value();
    const std::vector<std::int64_t> amounts{1, 1};
    usage.start(NodeId{1}, amounts, second(0));
    const CoreMicros cpu = usage.usage(0, NodeId{1}, second(9000));
    usage.set_half_life(0, Duration{10h}, second(9000));
    CHECK(relative_error(core_seconds(usage.usage(0, NodeId{1}, second(9000))), core_seconds(cpu)) < 1e-12);
    CHECK(usage.resources()[1].half_life == Duration{2h});
}

TEST_CASE("resource usage: resources that cannot be are refused by name") {
    const auto tree = tree_ptr_of({{"@a", 1}});
    CHECK(ResourceUsage::make(tree, {{"cpu", Duration{0}, 1}, {"cpu", Duration{0}, 1}}).error().message ==
          "resource \"cpu\" occurs twice");
    CHECK(ResourceUsage::make(tree, {{"cpu", Duration{-5}, 1}}).error().message ==
          "resource \"cpu\": the half-life must be 0 or from 1 s to 100 years");
    ResourceUsageState state = ResourceUsage::make(tree, {{"cpu", Duration{1h}, 1}})->save();
    state.ledgers[0].half_life = Duration{2h};
    CHECK(ResourceUsage::restore(tree, state).error().message == "resource \"cpu\": its ledger has another half-life");
    state.ledgers.clear();
    CHECK(ResourceUsage::restore(tree, state).error().message == "1 resources, but 0 ledgers");
    CHECK_FALSE(ResourceUsage::make(tree, {{"cpu", Duration{0}, -1}}));
}

TEST_CASE("step decay: whole periods, with a date that does not drift") {
    const PeriodicDecay decay{24h, 0.5, 1.0};
    Instant last = second(0);
    CHECK(decay.periods_passed(last, second(86400)) == 0);  // more than a period must have passed
    CHECK(decay.periods_passed(last, second(2.5 * 86400)) == 2);
    CHECK(last == second(2 * 86400));
    CHECK(decay.after(1000, 2) == 250);
    CHECK(decay.after(3, 2) == 1);
    CHECK(decay.after(1000, 100000) == 1);
    CHECK(PeriodicDecay{0h, 0.5, 1.0}.periods_passed(last, second(1e9)) == 0);
}

TEST_CASE("step decay: a half-life, a goal and a floor") {
    CHECK(half_life_factor(24h, 24h) == 0.5);
    CHECK(half_life_factor(24h, 0h) == 1.0);
    CHECK(half_life_factor(-1h, 24h) == 1.0);
    CHECK(stepped(0.5, 0.25, 100, 0.5) == 75.125);
    CHECK(stepped(10, 0.01, 0, 0.5) == 0.5);
}
