// SPDX-License-Identifier: LGPL-3.0-only
// Ten million pending jobs: bytes a job in the engine, a full pass, and who is computed again when one user's usage
// changes. Fails on bytes and counts; times are for the record.
//   ten_million_bench [JOBS]
#include <malloc.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "libsched/priority/engine.hpp"
#include "libsched/sim/prng.hpp"
#include "libsched/sim/replay_order.hpp"

using namespace weir;

namespace {

constexpr std::uint32_t users = 10'000;
/// Slurm 22.05.8, Fair Tree, 10,000 and 50,000 jobs, weights on all factors: the least of several passes, CPU time of
/// its decay thread on a machine like the one baseline.json names.
constexpr double slurm_ns_per_job = 510;

double heap_bytes() {
    const struct mallinfo2 info = mallinfo2();
    return static_cast<double>(info.uordblks + info.hblkhd);
}

template <typename Work>
double seconds_of(Work&& work) {
    const std::clock_t begin = std::clock();  // the processor's time: others may use the machine
    work();
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

bool engine_alone(std::uint64_t jobs) {
    const double before = heap_bytes();
    PriorityEngine engine{PrioritySettings{}};
    engine.reserve(jobs);
    Prng prng(1);
    for (std::uint64_t i = 0; i < jobs; i++) {
        JobInputs in;
        in.id = JobId{i};
        in.eligible = Instant{Duration{static_cast<std::int64_t>(prng.uniform() * 86400e6)}};
        in.association = static_cast<std::uint32_t>(prng.next() % users);
        engine.insert(in);
    }
    const double bytes = (heap_bytes() - before) / static_cast<double>(jobs);
    std::vector<double> factors(users);
    for (double& factor : factors) {
        factor = prng.uniform();
    }
    std::vector<PriorityEngine::Change> changed;
    changed.resize(jobs);  // touched: who makes passes keeps the room
    const auto pass = [&](std::int64_t second) {
        changed.clear();
        const double took = seconds_of([&] { engine.pass(Instant{Duration{second * 1'000'000}}, factors, changed); });
        const double ns = took * 1e9 / static_cast<double>(jobs);
        std::printf("  pass: %.2f ns a job, %zu changed; Slurm's takes %.0f times as long\n", ns, changed.size(),
                    slurm_ns_per_job / ns);
    };
    std::printf("engine: %llu jobs, %.2f bytes a job\n", static_cast<unsigned long long>(jobs), bytes);
    pass(86400);
    pass(86400);
    pass(86430);
    pass(86430 + 605);
    return bytes <= 48.5;  // the heap's own headers are counted too
}

bool one_user(std::uint64_t jobs) {
    PolicySettings settings;
    settings.weights.wait = 0;
    settings.update_interval = Duration{};
    MultifactorOrder order(settings, 1024, LogShares::of_users());
    std::vector<std::pair<JobId, std::uint32_t>> changed;
    std::uint64_t of_first = 0;
    for (std::uint64_t i = 0; i < jobs; i++) {
        SimJob job;
        job.user = 1 + static_cast<std::uint32_t>(i % 1000);
        of_first += job.user == 1 ? 1 : 0;
        order.submitted(job, JobId{i}, Instant{});
    }
    order.prioritize(Instant{}, changed);
    const std::uint64_t before = order.counts().computed;
    SimJob job;
    job.user = 1;
    job.cores = 8;
    order.started(job, JobId{0}, Instant{});
    order.prioritize(Instant{std::chrono::hours(1)}, changed);
    const std::uint64_t computed = order.counts().computed - before;
    std::printf("one user of 1000 used something: %llu of %llu waiting jobs computed again\n",
                static_cast<unsigned long long>(computed), static_cast<unsigned long long>(jobs - 1));
    return computed == of_first - 1;
}

}  // namespace

int main(int argc, char** argv) {
    const std::uint64_t jobs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10'000'000;
    const bool is_good = engine_alone(jobs) && one_user(jobs / 10);
    std::printf("%s\n", is_good ? "[ok] at most 48 bytes a job, and only that user's jobs" : "[fail] too much");
    return is_good ? 0 : 1;
}
