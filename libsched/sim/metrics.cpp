// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the sums of metrics.hpp. Times are whole microseconds until the last step.
#include "libsched/sim/metrics.hpp"

#include <algorithm>

namespace weir {
namespace {

double at_quantile(std::vector<double>& values, std::size_t percent) {
    const std::size_t place = std::min(values.size() - 1, values.size() * percent / 100);
    const auto nth = values.begin() + static_cast<std::ptrdiff_t>(place);
    std::nth_element(values.begin(), nth, values.end());
    return *nth;
}

/// Cores that run and that wait, after each instant.
struct Load {
    std::int64_t busy = 0;
    std::int64_t waiting = 0;

    void apply(Change change, std::int64_t cores) {
        switch (change) {
            case Change::submitted:
                waiting += cores;
                break;
            case Change::started:
                waiting -= cores;
                busy += cores;
                break;
            case Change::ended:
                busy -= cores;
                break;
        }
    }
};

}  // namespace

Spread spread_of(std::vector<double> values) {
    Spread spread;
    if (values.empty()) {
        return spread;
    }
    for (const double value : values) {
        spread.mean += value;
    }
    spread.mean /= static_cast<double>(values.size());
    spread.median = at_quantile(values, 50);
    spread.p95 = at_quantile(values, 95);
    spread.p99 = at_quantile(values, 99);
    spread.max = *std::max_element(values.begin(), values.end());
    return spread;
}

double jain_index(const std::vector<double>& values) {
    double sum = 0, squares = 0;
    for (const double value : values) {
        sum += value;
        squares += value * value;
    }
    return squares == 0 ? 1 : sum * sum / (static_cast<double>(values.size()) * squares);
}

double gini_index(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const double count = static_cast<double>(values.size());
    double sum = 0, ranked = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        sum += values[i];
        ranked += (2 * static_cast<double>(i + 1) - count - 1) * values[i];
    }
    return sum > 0 ? ranked / (count * sum) : 0;
}

void JobMetricsSum::add(const Outcome& outcome) {
    const double wait = to_seconds(outcome.wait());
    const double run = to_seconds(outcome.job.run);
    const double cores = outcome.job.cores;
    const double response = wait + run;
    const double specific = cores * (response * response - wait * wait);
    sums_.jobs++;
    area_ += cores * run;
    specific_ += specific;
    sums_.wait_area_weighted_s += cores * run * wait;
    sums_.response_area_weighted_s += cores * run * response;
    sums_.response_specific_weighted_s += specific * response;
    if (std::int64_t{outcome.job.cores} * 4 >= cores_) {
        sums_.large_jobs++;
        sums_.wait_large_s += wait;
    }
    sums_.starved += outcome.wait() > starved_after ? 1 : 0;
    waits_.push_back(wait);
    slowdowns_.push_back(bounded_slowdown(outcome));
}

JobMetrics JobMetricsSum::metrics() const {
    JobMetrics metrics = sums_;
    metrics.wait_s = spread_of(waits_);
    metrics.slowdown = spread_of(slowdowns_);
    const auto over = [](double& sum, double by) { sum = by > 0 ? sum / by : 0; };
    over(metrics.wait_area_weighted_s, area_);
    over(metrics.response_area_weighted_s, area_);
    over(metrics.response_specific_weighted_s, specific_);
    over(metrics.wait_large_s, static_cast<double>(metrics.large_jobs));
    return metrics;
}

MachineMetrics machine_metrics(const Timeline& timeline, std::int64_t machine_cores) {
    MachineMetrics metrics;
    if (timeline.empty()) {
        return metrics;
    }
    const double machine = static_cast<double>(machine_cores);
    double busy = 0, busy_to_last_submit = 0, lost = 0;
    Load load;
    timeline.walk(
        [&](Change change, std::uint32_t at) { load.apply(change, timeline.outcome(at).job.cores); },
        [&](Instant from, Instant to) {
            const double held = to_seconds(to - from);
            busy += static_cast<double>(load.busy) * held;
            lost += static_cast<double>(std::min(machine_cores - load.busy, load.waiting)) * held;
            if (to <= timeline.last_submit()) {  // it is an instant of the timeline: no stretch lies across it
                busy_to_last_submit += static_cast<double>(load.busy) * held;
            }
        });
    const auto part = [&](double core_s, Duration span) {
        return span > Duration{} ? core_s / (machine * to_seconds(span)) : 0;
    };
    metrics.makespan = timeline.end() - timeline.begin();
    metrics.utilization = part(busy, metrics.makespan);
    metrics.utilization_to_last_submit = part(busy_to_last_submit, timeline.last_submit() - timeline.begin());
    metrics.capacity_lost = part(lost, metrics.makespan);
    return metrics;
}

std::vector<MachineSample> machine_history(const Timeline& timeline, std::size_t parts) {
    if (timeline.empty() || timeline.begin() == timeline.end()) {
        return {};
    }
    const double begin = to_seconds(timeline.begin());
    const double width = to_seconds(timeline.end() - timeline.begin()) / static_cast<double>(parts);
    std::vector<MachineSample> samples(parts);
    for (std::size_t i = 0; i < parts; ++i) {
        samples[i].from = instant_from_seconds(begin + width * static_cast<double>(i));
    }
    Load load;
    timeline.walk([&](Change change, std::uint32_t at) { load.apply(change, timeline.outcome(at).job.cores); },
                  [&](Instant from, Instant to) {
                      const double a = (to_seconds(from) - begin) / width;
                      const double b = (to_seconds(to) - begin) / width;
                      for (auto i = static_cast<std::size_t>(a); i < parts && static_cast<double>(i) < b; ++i) {
                          const double held =
                              std::min(b, static_cast<double>(i + 1)) - std::max(a, static_cast<double>(i));
                          samples[i].busy += static_cast<double>(load.busy) * held;
                          samples[i].waiting += static_cast<double>(load.waiting) * held;
                      }
                  });
    return samples;
}

}  // namespace weir
