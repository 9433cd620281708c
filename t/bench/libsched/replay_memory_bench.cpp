// SPDX-License-Identifier: LGPL-3.0-only
// What a replay keeps of a job that waits: the heap when all jobs have come and none has ended. Fails above 120 bytes.
//   replay_memory_bench [JOBS]
#include <malloc.h>

#include <cstdio>
#include <cstdlib>

#include "libsched/sim/prng.hpp"
#include "libsched/sim/simulate.hpp"

using namespace weir;

namespace {

double heap_bytes() {
    const struct mallinfo2 info = mallinfo2();
    return static_cast<double>(info.uordblks + info.hblkhd);
}

}  // namespace

int main(int argc, char** argv) {
    const std::uint64_t jobs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
    Prng prng(1);
    const double before = heap_bytes();
    double kept = 0;
    std::uint64_t next = 0;
    SimControl control;
    control.every = 1;
    control.progress = [&](const SimCounters& counters) { return counters.submitted < jobs; };
    const JobSource source = [&]() -> Result<std::optional<SimJob>> {
        if (next == jobs) {
            kept = heap_bytes() - before;
            return std::optional<SimJob>();
        }
        SimJob job;
        job.number = static_cast<std::int64_t>(++next);
        job.submit = Instant{Duration{static_cast<std::int64_t>(next) * 1'000'000}};
        job.run = job.limit =
            std::chrono::hours(24 * 365) + Duration{static_cast<std::int64_t>(prng.next() % 1'000'000)};
        job.cores = 8 + static_cast<std::uint32_t>(prng.next() % 56);
        return std::optional(job);
    };
    const auto done = simulate(64, Easy{}, source, [](const Outcome&) {}, {.control = &control});
    WEIR_CHECK(done.has_value());
    const double bytes = kept / static_cast<double>(jobs);
    std::printf("%llu jobs wait: %.1f bytes a job, %llu looked at a job\n", static_cast<unsigned long long>(jobs),
                bytes, static_cast<unsigned long long>(done->considered / jobs));
    const bool is_good = bytes <= 120;
    std::printf("%s\n", is_good ? "[ok] at most 120 bytes a job" : "[fail] more than 120 bytes a job");
    return is_good ? 0 : 1;
}
