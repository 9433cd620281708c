// SPDX-License-Identifier: LGPL-3.0-only
// Scheduling passes over a deep queue, and whole replays of a generated log. What gates is the number of jobs that a
// pass looks at; times are for the record.
#include <benchmark/benchmark.h>

#include <vector>

#include "libsched/scheduler.hpp"
#include "libsched/sim/lublin.hpp"
#include "libsched/sim/simulate.hpp"

using namespace weir;

namespace {

Instant at(std::int64_t seconds) {
    return Instant{Duration{seconds * 1'000'000}};
}

/// One job runs on 60 of 64 cores, the queue's head wants all, `depth` jobs behind it want 8 each.
Scheduler deep_queue(const Policy& policy, std::int64_t depth) {
    Scheduler scheduler(policy);
    ResourceSet machine{{{0, IdSet::range(0, 63), {}}}};
    scheduler.set_resources(machine, IdSet::range(0, 0));
    const auto wait = [&](std::uint64_t id, std::uint32_t cores, std::uint32_t priority) {
        WEIR_CHECK(
            scheduler.alloc({{priority, at(0), JobId{id}}, {0, cores, 1, false}, Duration{std::chrono::hours(1)}})
                .has_value());
    };
    wait(0, 60, 9);
    scheduler.pass(at(0));
    wait(1, 64, 8);
    for (std::int64_t i = 0; i < depth; i++) {
        wait(static_cast<std::uint64_t>(i) + 2, 8, 1 + static_cast<std::uint32_t>(i % 5));
    }
    return scheduler;
}

void pass(benchmark::State& state, const Policy& policy, std::uint64_t considered_max) {
    Scheduler scheduler = deep_queue(policy, state.range(0));
    const std::uint64_t before = scheduler.counters().considered;
    for (auto unused : state) {
        (void)unused;
        benchmark::DoNotOptimize(scheduler.pass(at(1)));
    }
    const auto considered = (scheduler.counters().considered - before) / state.iterations();
    WEIR_CHECK(considered <= considered_max);
    state.counters["considered"] = static_cast<double>(considered);
}
void fcfs_pass(benchmark::State& state) {
    pass(state, Fcfs{}, 1);
}
void easy_pass(benchmark::State& state) {
    pass(state, Easy{}, static_cast<std::uint64_t>(state.range(0)) + 1);
}

constexpr std::uint32_t nodes = 128;

/// On each of 128 nodes of 32 cores seven jobs of 4 cores run, so that 4 stay free. `depth` jobs wait: the first for 64
/// whole nodes, the others for whole nodes or for slots of 8 to 32 cores, none of which is free; but one for one core,
/// which is: as many as `before` stand before it.
Scheduler deep_queue_on_nodes(const Policy& policy, std::int64_t depth, std::int64_t before) {
    Scheduler scheduler(policy);
    ResourceSet machine;
    for (std::uint32_t rank = 0; rank < nodes; rank++) {
        machine.nodes.push_back({rank, IdSet::range(0, 31), {}});
    }
    scheduler.set_resources(machine, IdSet::range(0, nodes - 1));
    std::uint64_t id = 0;
    const auto wait = [&](std::uint32_t priority, const Request& request, std::int64_t seconds) {
        WEIR_CHECK(
            scheduler.alloc({{priority, at(0), JobId{id++}}, request, Duration{seconds * 1'000'000}}).has_value());
    };
    for (std::uint32_t i = 0; i < nodes * 7; i++) {
        const std::uint32_t rank = i % nodes;
        WEIR_CHECK(scheduler.hello(JobId{id++}, {{{rank, IdSet::range(i / nodes * 4, i / nodes * 4 + 3), {}}}},
                                   at(1000 + i * 37 % 3000)));
    }
    wait(4, {64, 1, 32, true}, 86'400);
    for (std::int64_t i = 0; i < depth - 2; i++) {
        const auto n = static_cast<std::uint32_t>(i % 8);
        wait(i + 1 < before ? 3 : 1, n < 4 ? Request{1U << n, 1, 32, true} : Request{0, 1, 8 * (n - 3), false},
             60 + i * 7919 % 86'000);
    }
    wait(2, {0, 1, 1, false}, 60);
    return scheduler;
}

/// A pass in which nothing is known from the pass before. What gates: jobs of the queue, and nodes with their steps.
void fresh_pass(benchmark::State& state, const Policy& policy, double looked_at_max) {
    const Scheduler fresh = deep_queue_on_nodes(policy, state.range(0), state.range(1));
    for (auto unused : state) {
        (void)unused;
        state.PauseTiming();
        Scheduler scheduler = fresh;
        state.ResumeTiming();
        WEIR_CHECK(scheduler.pass(at(1)).started.size() == 1);
        state.PauseTiming();
        state.counters["considered"] = static_cast<double>(scheduler.counters().considered);
        state.counters["nodes_looked_at"] = static_cast<double>(scheduler.space().plan().looked_at());
        WEIR_CHECK(state.counters["considered"] <= 5. * static_cast<double>(state.range(0)));
        WEIR_CHECK(state.counters["nodes_looked_at"] <= looked_at_max);
        state.ResumeTiming();
    }
}
/// One search, and nodes at each halving of it.
void easy_fresh_pass(benchmark::State& state) {
    fresh_pass(state, Easy{}, 64 * nodes);
}
void hybrid_fresh_pass(benchmark::State& state) {
    fresh_pass(state, Backfill{.depth = 8}, 8 * 256 * nodes);
}
/// A search for each that stands before the one that fits; behind it nobody can start.
void conservative_fresh_pass(benchmark::State& state) {
    fresh_pass(state, Backfill{.depth = Backfill::all}, static_cast<double>(state.range(1)) * 512 * nodes);
}

/// A job's way through the scheduler: alloc, pass, free. The bound of the module's own work per job.
void job_cycle(benchmark::State& state) {
    Scheduler scheduler(Fcfs{});
    scheduler.set_resources(ResourceSet{{{0, IdSet::range(0, 63), {}}}}, IdSet::range(0, 0));
    std::uint64_t id = 0;
    for (auto unused : state) {
        (void)unused;
        WEIR_CHECK(scheduler.alloc({{1, at(0), JobId{++id}}, {0, 1, 1, false}, Duration::max()}).has_value());
        WEIR_CHECK(scheduler.pass(at(0)).started.size() == 1);
        WEIR_CHECK(scheduler.free(JobId{id}, {}, true).has_value());
    }
    state.SetItemsProcessed(state.iterations());
}

/// By offered load in percent: above 100 the queue grows with the log.
void replay(benchmark::State& state, const Policy& policy, double considered_max) {
    LublinSettings settings;
    settings.jobs = 200'000;
    settings.load = static_cast<double>(state.range(0)) / 100.;
    std::vector<SimJob> jobs;
    const auto log = generate_lublin(settings);
    for (const SwfJob& job : *log) {
        jobs.push_back(*sim_job(job));
    }
    SimCounters counters;
    for (auto unused : state) {
        (void)unused;
        counters = {};
        benchmark::DoNotOptimize(simulate(jobs, settings.cores, policy, &counters));
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(jobs.size()));
    const double considered = static_cast<double>(counters.considered) / static_cast<double>(jobs.size());
    WEIR_CHECK(considered <= considered_max);
    state.counters["considered_per_job"] = considered;
    state.counters["in_system_max"] = static_cast<double>(counters.in_system_max);
}
void fcfs_replay(benchmark::State& state) {
    replay(state, Fcfs{}, 4);
}
void easy_replay(benchmark::State& state) {
    replay(state, Easy{}, 120);
}

BENCHMARK(fcfs_pass)->Arg(100'000);
BENCHMARK(easy_pass)->Arg(1000)->Arg(100'000)->Unit(benchmark::kMicrosecond);
BENCHMARK(easy_fresh_pass)->Args({1000, 999})->Args({100'000, 99'999})->Unit(benchmark::kMillisecond);
BENCHMARK(hybrid_fresh_pass)->Args({1000, 999})->Args({100'000, 99'999})->Unit(benchmark::kMillisecond);
BENCHMARK(conservative_fresh_pass)->Args({100'000, 1})->Args({100'000, 100})->Unit(benchmark::kMillisecond);
BENCHMARK(job_cycle);
BENCHMARK(fcfs_replay)->Arg(90)->Arg(130)->Unit(benchmark::kMillisecond);
BENCHMARK(easy_replay)->Arg(90)->Arg(100)->Arg(110)->Arg(130)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
