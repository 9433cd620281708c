// SPDX-License-Identifier: LGPL-3.0-only
// Owns: turning the state at a job's submission into a log of its own: whoever runs comes first with what remains of
// him and starts at once, since he fitted before; then those who wait, in order; then the job.
#include "libsched/sim/fair_start.hpp"

#include <algorithm>

#include "libsched/sim/simulate.hpp"

namespace weir {

bool has_exact_fair_starts(const Policy& policy) {
    if (const auto* backfill = std::get_if<Backfill>(&policy)) {
        return backfill->reserve_after == Duration{};
    }
    const auto* first_fit = std::get_if<FirstFit>(&policy);
    return std::holds_alternative<Fcfs>(policy) || (first_fit != nullptr && first_fit->starve_after == Duration{});
}

Result<std::vector<FairStart>> fair_starts(std::span<const Outcome> outcomes, std::int64_t machine_cores,
                                           const Policy& policy) {
    std::vector<FairStart> fair;
    std::vector<std::uint32_t> in_system;  // before the job at hand, in order of submission
    std::vector<SimJob> log;
    for (std::uint32_t j = 0; j < outcomes.size(); ++j) {
        const Instant now = outcomes[j].job.submit;
        std::erase_if(in_system, [&](std::uint32_t i) { return outcomes[i].start < now && outcomes[i].end() <= now; });
        if (outcomes[j].wait() > Duration{}) {
            log.clear();
            for (const std::uint32_t i : in_system) {
                if (outcomes[i].start < now) {
                    SimJob rest = outcomes[i].job;
                    rest.submit = now;
                    rest.run = outcomes[i].end() - now;
                    rest.limit = believed_end(outcomes[i].start, rest.limit) - now;
                    log.push_back(rest);
                }
            }
            for (const std::uint32_t i : in_system) {
                if (outcomes[i].start >= now) {
                    log.push_back(outcomes[i].job);
                    log.back().submit = now;
                }
            }
            log.push_back(outcomes[j].job);
            const auto starts = simulate(log, machine_cores, policy);
            if (!starts) {
                return starts.error();
            }
            fair.push_back({j, starts->back()});
        }
        in_system.push_back(j);
    }
    return fair;
}

Result<std::vector<FairStart>> fair_starts_sampled(std::span<const Outcome> outcomes, std::uint32_t every,
                                                   const LastStart& replay) {
    WEIR_CHECK(every > 0);
    std::vector<SimJob> jobs;
    for (const Outcome& outcome : outcomes) {
        jobs.push_back(outcome.job);
    }
    std::vector<FairStart> fair;
    for (std::size_t j = every / 2; j < jobs.size(); j += every) {
        const auto start = replay(std::span(jobs).first(j + 1));
        if (!start) {
            return start.error();
        }
        fair.push_back({static_cast<std::uint32_t>(j), *start});
    }
    return fair;
}

FairStartMetrics fair_start_metrics(std::span<const Outcome> outcomes, const std::vector<FairStart>& fair,
                                    std::uint64_t jobs) {
    FairStartMetrics metrics;
    metrics.jobs = jobs;
    double sum = 0;
    for (const FairStart& of : fair) {
        const Duration miss = std::max(Duration{}, outcomes[of.at].start - of.start);
        sum += to_seconds(miss);
        metrics.missed += miss > Duration{} ? 1 : 0;
        metrics.miss_max = std::max(metrics.miss_max, miss);
    }
    metrics.miss_mean_s = jobs > 0 ? sum / static_cast<double>(jobs) : 0;
    metrics.miss_mean_of_missed_s = metrics.missed > 0 ? sum / static_cast<double>(metrics.missed) : 0;
    return metrics;
}

}  // namespace weir
