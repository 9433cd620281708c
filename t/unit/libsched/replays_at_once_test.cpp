// SPDX-License-Identifier: LGPL-3.0-only
// Replays are reentrant: at once, on as many threads as there are policies, they give what they give one by one.
#include <catch2/catch.hpp>
#include <thread>

#include "libsched/sim/lublin.hpp"
#include "libsched/sim/priority_order.hpp"
#include "t/unit/libsched/replays.hpp"

using namespace weir;

// Kills: anything that two replays share and one of them writes; under ThreadSanitizer also where the values agree.
TEST_CASE("replays at once give the same starts as one after the other") {
    LublinSettings model;
    model.jobs = 1500;
    model.cores = 64;
    model.load = 1.1;
    std::vector<SimJob> jobs;
    const std::vector<SwfJob> lines = generate_lublin(model).value();
    for (const SwfJob& line : lines) {
        jobs.push_back(sim_job(line).value());
    }
    const std::vector<PolicyKind> kinds{PolicyKind::fcfs, PolicyKind::multifactor, PolicyKind::multifactor,
                                        PolicyKind::lsf,  PolicyKind::moab,        PolicyKind::load_threshold};
    const std::vector<Policy> policies{Easy{}, Easy{}, KeptReservations{}, Fcfs{}, FirstFit{}, Backfill{.depth = 8}};
    const auto replay = [&](std::size_t i) {
        PolicySettings settings;
        settings.policy = kinds[i];
        settings.update_interval = std::chrono::minutes(10);
        const auto order = make_priority_order(settings, 64, LogShares::of_users()).value();
        std::vector<Instant> starts(jobs.size());
        std::size_t next = 0;
        const auto done = simulate(
            64, policies[i],
            [&]() -> Result<std::optional<SimJob>> {
                return next < jobs.size() ? std::optional(jobs[next++]) : std::nullopt;
            },
            [&](const Outcome& outcome) { starts[outcome.place] = outcome.start; }, {.order = order.get()});
        WEIR_CHECK(done.has_value());
        return starts;
    };
    std::vector<std::vector<Instant>> alone, at_once(kinds.size());
    for (std::size_t i = 0; i < kinds.size(); i++) {
        alone.push_back(replay(i));
    }
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < kinds.size(); i++) {
        threads.emplace_back([&, i] { at_once[i] = replay(i); });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    CHECK(at_once == alone);
}
