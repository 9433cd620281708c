// SPDX-License-Identifier: LGPL-3.0-only
// Owns: turning the state at a job's submission into a log of its own. The running jobs come first, with their
// remaining run times, and start at once, because they fitted before. The pending jobs follow, in order, and then the
// job.
#include "libsched/sim/fair_start.hpp"

#include <algorithm>
#include <cmath>

#include "libsched/sim/prng.hpp"
#include "libsched/sim/simulate.hpp"

namespace weir {

bool has_exact_fair_starts(const Policy& policy) {
    if (const auto* backfill = std::get_if<Backfill>(&policy)) {
        return backfill->reserve_after == Duration{};
    }
    const auto* first_fit = std::get_if<FirstFit>(&policy);
    return std::holds_alternative<Fcfs>(policy) || (first_fit != nullptr && first_fit->starve_after == Duration{});
}

std::vector<std::uint32_t> fair_start_places(std::size_t jobs, std::size_t count, std::uint64_t seed) {
    count = std::min(count, jobs);
    std::vector<std::uint32_t> places;
    Prng prng(seed);
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t from = jobs * i / count;
        const std::size_t length = jobs * (i + 1) / count - from;
        places.push_back(static_cast<std::uint32_t>(from + prng.next() % length));
    }
    for (std::size_t i = places.size(); i > 1 && count < jobs; --i) {
        std::swap(places[i - 1], places[prng.next() % i]);
    }
    return places;
}

namespace {

constexpr std::uint64_t instants_between_checks = 64;

/// Who waits or runs when a job is submitted, of those submitted before it.
class InSystem {
  public:
    explicit InSystem(std::span<const Outcome> outcomes) : outcomes_(outcomes) {}

    /// The log whose replay tells the fair start of the job at `place`.
    std::vector<SimJob> log_for(std::uint32_t place) {
        const Instant now = outcomes_[place].job.submit;
        move_to(place);
        std::vector<SimJob> log;
        for (const std::uint32_t i : places_) {
            if (outcomes_[i].start < now) {
                SimJob rest = outcomes_[i].job;
                rest.submit = now;
                rest.run = outcomes_[i].end() - now;
                // One that runs longer than it asked for is believed to end at any moment.
                rest.limit = std::max(believed_end(outcomes_[i].start, rest.limit) - now, Duration{1});
                log.push_back(rest);
            }
        }
        for (const std::uint32_t i : places_) {
            if (outcomes_[i].start >= now) {
                log.push_back(outcomes_[i].job);
                log.back().submit = now;
            }
        }
        log.push_back(outcomes_[place].job);
        return log;
    }

  private:
    void move_to(std::uint32_t place) {
        if (place < next_) {
            places_.clear();
            next_ = 0;
        }
        const Instant now = outcomes_[place].job.submit;
        const auto is_gone = [&](std::uint32_t i) { return outcomes_[i].start < now && outcomes_[i].end() <= now; };
        std::erase_if(places_, is_gone);
        for (; next_ < place; ++next_) {
            if (!is_gone(next_)) {
                places_.push_back(next_);
            }
        }
    }

    std::span<const Outcome> outcomes_;
    std::vector<std::uint32_t> places_;  ///< in order of submission, all before next_
    std::uint32_t next_ = 0;
};

/// The start of a log's last job; nothing when `watch` said stop.
Result<std::optional<Instant>> last_start(const std::vector<SimJob>& log, std::int64_t cores, const Policy& policy,
                                          const FairStartWatch& watch) {
    std::size_t next = 0;
    const auto source = [&]() -> Result<std::optional<SimJob>> {
        return next < log.size() ? std::optional(log[next++]) : std::nullopt;
    };
    std::optional<Instant> start;
    const auto sink = [&](const Outcome& outcome) {
        if (outcome.place + 1 == log.size()) {
            start = outcome.start;
        }
    };
    std::uint64_t told = 0;
    const auto tell = [&](const SimCounters& counters) {
        const bool goes_on = !watch || watch(counters.started - told, 0);
        told = counters.started;
        return goes_on && !start;
    };
    SimControl control;
    control.every = instants_between_checks;
    control.progress = tell;
    const auto counters = simulate(cores, policy, source, sink, {.control = &control});
    if (!counters) {
        return counters.error();
    }
    if (start && watch) {
        (void)watch(log.size() - told, 0);
    }
    return start;
}

}  // namespace

Result<std::vector<FairStart>> fair_starts(std::span<const Outcome> outcomes, std::int64_t machine_cores,
                                           const Policy& policy, std::span<const std::uint32_t> places,
                                           const FairStartWatch& watch) {
    std::vector<FairStart> fair;
    fair.reserve(places.size());
    InSystem in_system(outcomes);
    for (const std::uint32_t place : places) {
        Instant start = outcomes[place].start;
        if (outcomes[place].wait() > Duration{}) {
            const auto replayed = last_start(in_system.log_for(place), machine_cores, policy, watch);
            if (!replayed) {
                return replayed.error();
            }
            if (!*replayed) {
                break;
            }
            start = **replayed;
        }
        fair.push_back({place, start});
        if (watch && !watch(0, 1)) {
            break;
        }
    }
    return fair;
}

std::uint64_t fair_start_work(std::span<const Outcome> outcomes, std::span<const std::uint32_t> places) {
    std::vector<Instant> ends;
    for (const Outcome& outcome : outcomes) {
        ends.push_back(outcome.end());
    }
    std::sort(ends.begin(), ends.end());
    std::uint64_t work = 0;
    for (const std::uint32_t place : places) {
        if (outcomes[place].wait() > Duration{}) {
            const auto gone = std::upper_bound(ends.begin(), ends.end(), outcomes[place].job.submit) - ends.begin();
            work += 1 + place - std::min(place, static_cast<std::uint32_t>(gone));
        }
    }
    return work;
}

Result<std::vector<FairStart>> fair_starts_replayed(std::span<const Outcome> outcomes,
                                                    std::span<const std::uint32_t> places, const LastStart& replay) {
    std::vector<SimJob> jobs;
    for (const Outcome& outcome : outcomes) {
        jobs.push_back(outcome.job);
    }
    std::vector<FairStart> fair;
    for (const std::uint32_t place : places) {
        const auto start = replay(std::span(jobs).first(std::size_t{place} + 1));
        if (!start) {
            return start.error();
        }
        if (!*start) {
            break;
        }
        fair.push_back({place, **start});
    }
    return fair;
}

namespace {

constexpr double z_95 = 1.959963984540054;

/// Wilson's interval; `z` 0 gives the part itself.
Interval interval_of_part(double part, double n, double z) {
    const double zz = z * z;
    const double middle = (part + zz / (2 * n)) / (1 + zz / n);
    const double half = z / (1 + zz / n) * std::sqrt(part * (1 - part) / n + zz / (4 * n * n));
    return {std::max(0., middle - half), std::min(1., middle + half)};
}

}  // namespace

FairStartMetrics fair_start_metrics(std::span<const Outcome> outcomes, std::span<const FairStart> fair) {
    FairStartMetrics metrics;
    metrics.jobs = fair.size();
    double sum = 0, sum_of_squares = 0;
    for (const FairStart& of : fair) {
        const Duration miss = std::max(Duration{}, outcomes[of.at].start - of.start);
        sum += to_seconds(miss);
        sum_of_squares += to_seconds(miss) * to_seconds(miss);
        metrics.missed += miss > Duration{} ? 1 : 0;
        metrics.miss_max = std::max(metrics.miss_max, miss);
    }
    if (fair.empty()) {
        return metrics;
    }
    const auto n = static_cast<double>(fair.size());
    const auto all = static_cast<double>(outcomes.size());
    const double z = fair.size() < outcomes.size() ? z_95 * std::sqrt((all - n) / (all - 1)) : 0;
    metrics.missed_interval =
        z > 0 ? interval_of_part(metrics.missed_part(), n, z) : Interval{metrics.missed_part(), metrics.missed_part()};
    metrics.miss_mean_s = sum / n;
    const double variance = n > 1 ? std::max(0., sum_of_squares - sum * sum / n) / (n - 1) : 0;
    const double half = z * std::sqrt(variance / n);
    metrics.miss_mean_interval_s = {std::max(0., metrics.miss_mean_s - half), metrics.miss_mean_s + half};
    metrics.miss_mean_of_missed_s = metrics.missed > 0 ? sum / static_cast<double>(metrics.missed) : 0;
    return metrics;
}

}  // namespace weir
