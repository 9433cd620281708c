// SPDX-License-Identifier: LGPL-3.0-only
// Owns: from outcomes to figures and series.
#include "cmd/sim/comparison.hpp"

#include <algorithm>

namespace weir::cmd {
namespace {

constexpr std::size_t samples = 240;
constexpr std::size_t window_jobs_max = 300;

/// The tree with only the payers of these outcomes.
PartyTree paid_by(const PartyTree& tree, const std::vector<Outcome>& outcomes) {
    PartyTree own{tree.parties, {}};
    own.payer.reserve(outcomes.size());
    for (const Outcome& outcome : outcomes) {
        own.payer.push_back(tree.payer[outcome.place]);
    }
    return own;
}

std::vector<std::pair<double, double>> ecdf(const std::vector<Outcome>& outcomes) {
    std::vector<double> waits;
    for (const Outcome& outcome : outcomes) {
        waits.push_back(to_seconds(outcome.wait()));
    }
    std::sort(waits.begin(), waits.end());
    std::vector<std::pair<double, double>> points;
    for (std::size_t i = 0; i <= samples && !waits.empty(); ++i) {
        const std::size_t count = std::max<std::size_t>(waits.size() * i / samples, 1);
        points.emplace_back(waits[count - 1], static_cast<double>(count) / static_cast<double>(waits.size()));
    }
    return points;
}

/// Jobs without run time hold no cores: two of them may have had the same cores at the same instant.
bool runs_within(const Outcome& outcome, Instant from, Instant to) {
    return outcome.job.run > Duration{} && outcome.start < to && outcome.end() > from;
}

/// Free cores as ordered intervals; allocates the lowest and takes released ones.
class CoreLine {
  public:
    explicit CoreLine(double cores) : free_{{0, cores}} {}
    std::vector<std::pair<double, double>> take(double need) {
        std::vector<std::pair<double, double>> taken;
        while (need > 0 && !free_.empty()) {
            auto& [from, to] = free_.front();
            const double part = std::min(need, to - from);
            taken.emplace_back(from, from + part);
            need -= part;
            from += part;
            if (from >= to) {
                free_.erase(free_.begin());
            }
        }
        return taken;
    }
    void release(const std::vector<std::pair<double, double>>& back) {
        free_.insert(free_.end(), back.begin(), back.end());
        std::sort(free_.begin(), free_.end());
        std::vector<std::pair<double, double>> joined;
        for (const auto& part : free_) {
            if (!joined.empty() && joined.back().second == part.first) {
                joined.back().second = part.second;
            } else {
                joined.push_back(part);
            }
        }
        free_ = std::move(joined);
    }

  private:
    std::vector<std::pair<double, double>> free_;
};

}  // namespace

Measured measured(const Yardstick& yardstick, const Replayed& replayed) {
    Measured result;
    result.name = replayed.name;
    result.scheduler = replayed.scheduler;
    result.order = replayed.order;
    result.is_complete = replayed.is_complete;
    result.partitions = replayed.partitions;
    result.refused = replayed.refused;
    result.never_started = replayed.never_started;
    result.without_shares = replayed.without_shares;
    JobMetricsSum sum(yardstick.cores);
    for (const Outcome& outcome : replayed.outcomes) {
        sum.add(outcome);
        if (!result.partitions.empty()) {
            add_outcome(result.partitions, outcome);
        }
    }
    result.jobs = sum.metrics();
    if (replayed.outcomes.empty()) {
        return result;
    }
    const Timeline timeline(replayed.outcomes);
    result.machine = machine_metrics(timeline, yardstick.cores);
    result.equality = equality_metrics(timeline, yardstick.cores);
    const PartyTree accounts = paid_by(yardstick.accounts, replayed.outcomes);
    const PartyTree users = paid_by(yardstick.users, replayed.outcomes);
    const FairnessMetrics by_account = fairness_metrics(timeline, accounts, yardstick.cores);
    result.accounts = by_account.levels[yardstick.accounts_level];
    result.by_account = by_account.parties;
    FairnessMetrics by_user = fairness_metrics(timeline, users, yardstick.cores);
    result.users = by_user.levels[yardstick.users_level];
    result.by_user = std::move(by_user.parties);
    result.level_fs_error = daily_level_fs_error(timeline, users, yardstick.half_life);
    result.load = machine_history(timeline, samples);
    result.usage = usage_history(timeline, accounts, yardstick.half_life, equal_looks(timeline, samples));
    result.wait_ecdf = ecdf(replayed.outcomes);
    return result;
}

std::pair<Instant, Instant> window_of(const std::vector<Replayed>& replays, const Measured& first) {
    if (first.load.empty()) {
        return {};
    }
    const auto deepest =
        std::max_element(first.load.begin(), first.load.end(),
                         [](const MachineSample& a, const MachineSample& b) { return a.waiting < b.waiting; });
    const Duration sample = first.load.size() > 1 ? first.load[1].from - first.load[0].from : Duration{1};
    const Instant middle = deepest->from + sample / 2;
    for (Duration length = std::min<Duration>(std::chrono::hours(24), first.machine.makespan);;
         length = length * 3 / 4) {
        const Instant from = std::max(middle - length / 2, first.load.front().from);
        std::size_t most = 0;
        for (const Replayed& replayed : replays) {
            const auto count = std::count_if(replayed.outcomes.begin(), replayed.outcomes.end(),
                                             [&](const Outcome& o) { return runs_within(o, from, from + length); });
            most = std::max(most, static_cast<std::size_t>(count));
        }
        if (most <= window_jobs_max || length < std::chrono::minutes(1)) {
            return {from, from + length};
        }
    }
}

std::vector<WindowJob> window_jobs(const std::vector<Outcome>& outcomes, std::int64_t cores, Instant from, Instant to) {
    std::vector<WindowJob> jobs;
    for (const Outcome& outcome : outcomes) {
        if (runs_within(outcome, from, to)) {
            jobs.push_back({outcome, {}});
        }
    }
    std::stable_sort(jobs.begin(), jobs.end(),
                     [](const WindowJob& a, const WindowJob& b) { return a.outcome.start < b.outcome.start; });
    CoreLine line(static_cast<double>(cores));
    std::vector<bool> is_given_back(jobs.size());
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (!is_given_back[j] && jobs[j].outcome.end() <= jobs[i].outcome.start) {
                line.release(jobs[j].cores);
                is_given_back[j] = true;
            }
        }
        jobs[i].cores = line.take(jobs[i].outcome.job.cores);
    }
    return jobs;
}

void measure_fair_starts(std::vector<Measured>& measures, std::vector<Replayed>& replays) {
    // All replays went through the same places in the same order, so each has an initial part of them.
    std::size_t common = 0;
    for (const Replayed& replayed : replays) {
        const std::size_t own = replayed.fair.size();
        common = common == 0 || own == 0 ? std::max(common, own) : std::min(common, own);
    }
    for (std::size_t i = 0; i < replays.size(); ++i) {
        std::vector<FairStart>& fair = replays[i].fair;
        fair.resize(std::min(fair.size(), common));
        if (!fair.empty()) {
            measures[i].fair_start = fair_start_metrics(replays[i].outcomes, fair);
        }
    }
}

Comparison compared(Yardstick yardstick, const std::vector<Replayed>& replays, std::vector<Measured> measures) {
    Comparison comparison;
    comparison.yardstick = std::move(yardstick);
    comparison.begin = never;
    comparison.end = Instant::min();
    for (const Replayed& replayed : replays) {
        for (const Outcome& outcome : replayed.outcomes) {
            comparison.begin = std::min(comparison.begin, outcome.job.submit);
            comparison.end = std::max(comparison.end, outcome.end());
        }
    }
    std::tie(comparison.window_begin, comparison.window_end) = window_of(replays, measures.front());
    for (std::size_t i = 0; i < replays.size(); ++i) {
        measures[i].window = window_jobs(replays[i].outcomes, comparison.yardstick.cores, comparison.window_begin,
                                         comparison.window_end);
    }
    comparison.policies = std::move(measures);
    return comparison;
}

}  // namespace weir::cmd
