// SPDX-License-Identifier: LGPL-3.0-only
// What dynamic priorities cost a replay: EASY in order of submission against EASY in order of decayed usage, evaluated
// at every pass. Fails when a job costs more evaluations than its bound; times are for the record.
//   dynamic_bench LOG
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>

#include "libsched/sim/replay_order.hpp"
#include "libsched/sim/simulate.hpp"
#include "libsched/sim/swf.hpp"

using namespace weir;

int main(int argc, char** argv) {
    if (argc < 2 || !std::filesystem::exists(argv[1])) {
        std::printf("[skip] no log: dynamic_bench LOG\n");
        return 0;
    }
    auto reader = SwfReader::open(argv[1], {}).value();
    std::vector<SimJob> jobs;
    while (const auto job = reader.next().value()) {
        jobs.push_back(sim_job(*job).value());
    }
    const auto count = static_cast<double>(jobs.size());
    const auto replay = [&](QueueOrder* order) {
        double best = 1e9;
        std::size_t next = 0;
        const std::clock_t begin = std::clock();  // the processor's time: others may use the machine
        const auto done = simulate(
            reader.max_processors(), Easy{},
            [&]() -> Result<std::optional<SimJob>> {
                return next < jobs.size() ? std::optional(jobs[next++]) : std::nullopt;
            },
            [](const Outcome&) {}, {.order = order});
        WEIR_CHECK(done.has_value());
        best = std::min(best, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
        return best * 1e9 / count;
    };
    PolicySettings settings;
    settings.weights = {0, 1e9, 0, 0, 0, 0};
    settings.update_interval = Duration{};
    double fixed = 1e18, dynamic = 1e18;
    OrderCounts counts;
    for (int i = 0; i < 5; i++) {
        fixed = std::min(fixed, replay(nullptr));
        MultifactorOrder order(settings, static_cast<std::uint32_t>(reader.max_processors()), LogShares::of_users());
        dynamic = std::min(dynamic, replay(&order));
        counts = order.counts();
    }
    const double computed = static_cast<double>(counts.computed) / count;
    std::printf("static %.0f ns a job, dynamic %.0f ns a job: %.2f times; a job: %.2f evaluations, %.2f computed\n",
                fixed, dynamic, dynamic / fixed, static_cast<double>(counts.evaluations) / count, computed);
    const bool is_good = computed <= 3;
    std::printf("%s\n", is_good ? "[ok] at most 3 evaluations a job" : "[fail] more than 3 evaluations a job");
    return is_good ? 0 : 1;
}
