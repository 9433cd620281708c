// SPDX-License-Identifier: LGPL-3.0-only
// The priority pass over a million pending jobs: at most 10 ns a job on one core. `quiet`: nothing changed, the usual
// case between updates of a minute; `aging`: every job's wait moved its priority; `random`: associations at random, so
// that the fair-share factors miss the first cache.
#include <benchmark/benchmark.h>

#include <vector>

#include "libsched/priority/engine.hpp"
#include "libsched/sim/prng.hpp"

using namespace weir;

namespace {

constexpr std::int64_t million = 1'000'000;

struct Setting {
    PriorityEngine engine{PrioritySettings{}};
    std::vector<double> factors;

    Setting(std::int64_t jobs, std::uint32_t associations) {
        Prng prng(1);
        for (std::uint32_t a = 0; a < associations; a++) {
            factors.push_back(prng.uniform());
        }
        for (std::int64_t i = 0; i < jobs; i++) {
            JobInputs in;
            in.id = JobId{static_cast<std::uint64_t>(i)};
            in.eligible = Instant{Duration{static_cast<std::int64_t>(prng.uniform() * 86400e6)}};
            in.association = static_cast<std::uint32_t>(prng.next() % associations);
            in.urgency = prng.next() % 100 == 0 ? 0 : 16;
            engine.insert(in);
        }
    }
};

void run(benchmark::State& state, std::int64_t step_seconds, std::uint32_t associations) {
    Setting setting(state.range(0), associations);
    std::vector<PriorityEngine::Change> changed;
    changed.reserve(static_cast<std::size_t>(state.range(0)));
    std::int64_t now = 86400;
    std::int64_t yielded = 0;
    setting.engine.pass(Instant{Duration{now * 1'000'000}}, setting.factors, changed);
    for (auto unused : state) {
        (void)unused;
        changed.clear();
        now += step_seconds;
        setting.engine.pass(Instant{Duration{now * 1'000'000}}, setting.factors, changed);
        yielded += static_cast<std::int64_t>(changed.size());
    }
    const auto jobs = static_cast<double>(state.iterations() * state.range(0));
    state.counters["per_job"] = benchmark::Counter(jobs, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
    state.counters["yielded_part"] = static_cast<double>(yielded) / jobs;
}

void quiet(benchmark::State& state) {
    run(state, 0, 1000);
}
void aging(benchmark::State& state) {
    run(state, 605, 1000);  // one unit of wait's default 1000 over 7 days
}
void random_associations(benchmark::State& state) {
    run(state, 30, 100'000);
}

BENCHMARK(quiet)->Arg(million)->Unit(benchmark::kMillisecond);
BENCHMARK(aging)->Arg(million)->Unit(benchmark::kMillisecond);
BENCHMARK(random_associations)->Arg(million)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
