// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the rows of the list.
#include "cmd/sim/figures.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cmd/common/text.hpp"

namespace weir::cmd {
namespace {

using M = const Measured&;
using Value = std::optional<double>;

Value fair_start(M m, double (*of)(const FairStartMetrics&)) {
    return m.fair_start ? Value(of(*m.fair_start)) : std::nullopt;
}

std::optional<Interval> interval(M m, Interval FairStartMetrics::*of) {
    return m.fair_start ? std::optional((*m.fair_start).*of) : std::nullopt;
}

const std::vector<Figure> rows = {
    {"jobs", "jobs", "that started", Unit::count, Better::neither, false,
     [](M m) { return Value(static_cast<double>(m.jobs.jobs)); }},
    {"wait_mean_s", "wait, mean", "start - submission", Unit::seconds, Better::lower, true,
     [](M m) { return Value(m.jobs.wait_s.mean); }},
    {"wait_median_s", "wait, median", "half of the jobs waited at most this long", Unit::seconds, Better::lower, false,
     [](M m) { return Value(m.jobs.wait_s.median); }},
    {"wait_p95_s", "wait, p95", "95 of 100 jobs waited no longer", Unit::seconds, Better::lower, true,
     [](M m) { return Value(m.jobs.wait_s.p95); }},
    {"wait_p99_s", "wait, p99", "99 of 100 jobs waited no longer", Unit::seconds, Better::lower, false,
     [](M m) { return Value(m.jobs.wait_s.p99); }},
    {"wait_max_s", "wait, longest", "of any job", Unit::seconds, Better::lower, true,
     [](M m) { return Value(m.jobs.wait_s.max); }},
    {"starved", "waits above 7 d", "jobs", Unit::count, Better::lower, false,
     [](M m) { return Value(static_cast<double>(m.jobs.starved)); }},
    {"wait_area_weighted_s", "wait, by area",
     "weighted by cores x run time: independent of how work is split into jobs", Unit::seconds, Better::lower, false,
     [](M m) { return Value(m.jobs.wait_area_weighted_s); }},
    {"response_area_weighted_s", "response, by area", "wait + run, weighted by cores x run time", Unit::seconds,
     Better::lower, false, [](M m) { return Value(m.jobs.response_area_weighted_s); }},
    {"response_specific_weighted_s", "response, P2SF", "specific-response-weighted (Goponenko 2022)", Unit::seconds,
     Better::lower, false, [](M m) { return Value(m.jobs.response_specific_weighted_s); }},
    {"wait_large_s", "wait, large jobs", "mean of jobs of a quarter of the machine or more", Unit::seconds,
     Better::lower, false, [](M m) { return m.jobs.large_jobs > 0 ? Value(m.jobs.wait_large_s) : std::nullopt; }},
    {"slowdown_mean", "slowdown, mean", "bounded: max(1, (wait + run) / max(run, 10 s))", Unit::number, Better::lower,
     true, [](M m) { return Value(m.jobs.slowdown.mean); }},
    {"slowdown_median", "slowdown, median", "bounded slowdown", Unit::number, Better::lower, false,
     [](M m) { return Value(m.jobs.slowdown.median); }},
    {"slowdown_p95", "slowdown, p95", "bounded slowdown", Unit::number, Better::lower, false,
     [](M m) { return Value(m.jobs.slowdown.p95); }},
    {"slowdown_max", "slowdown, worst", "bounded slowdown", Unit::number, Better::lower, false,
     [](M m) { return Value(m.jobs.slowdown.max); }},
    {"utilization", "utilisation", "of all cores, from the first submission to the last end", Unit::part,
     Better::higher, true, [](M m) { return Value(m.machine.utilization); }},
    {"utilization_to_last_submit", "utilisation to last submission", "without the queue's draining at the end",
     Unit::part, Better::higher, false, [](M m) { return Value(m.machine.utilization_to_last_submit); }},
    {"capacity_lost", "capacity lost", "cores idle while jobs waited for as many", Unit::part, Better::lower, true,
     [](M m) { return Value(m.machine.capacity_lost); }},
    {"makespan_s", "makespan", "first submission to last end", Unit::seconds, Better::lower, false,
     [](M m) { return Value(to_seconds(m.machine.makespan)); }},
    {"user_slowdown_mean", "users' slowdown, mean", "of each user's mean bounded slowdown", Unit::number, Better::lower,
     true, [](M m) { return Value(m.users.slowdown.mean); }},
    {"user_slowdown_median", "users' slowdown, median", "over users", Unit::number, Better::lower, false,
     [](M m) { return Value(m.users.slowdown.median); }},
    {"user_slowdown_p95", "users' slowdown, p95", "over users", Unit::number, Better::lower, false,
     [](M m) { return Value(m.users.slowdown.p95); }},
    {"user_slowdown_max", "users' slowdown, worst", "over users", Unit::number, Better::lower, false,
     [](M m) { return Value(m.users.slowdown.max); }},
    {"user_jain_slowdown", "Jain index, slowdown", "over users; 1: all equal; dominated by the worst", Unit::number,
     Better::higher, false, [](M m) { return Value(m.users.jain_slowdown); }},
    {"user_jain_wait", "Jain index, wait", "over users; 1: all equal", Unit::number, Better::higher, false,
     [](M m) { return Value(m.users.jain_wait); }},
    {"user_share_deviation", "share deviation, users", "cores that ran other users' jobs than entitled, mean over time",
     Unit::part, Better::lower, true, [](M m) { return Value(m.users.deviation); }},
    {"account_share_deviation", "share deviation, accounts", "the same for accounts", Unit::part, Better::lower, false,
     [](M m) { return Value(m.accounts.deviation); }},
    {"user_under_service_mean", "under-service, mean", "fraction of the entitlement that was not served, over users",
     Unit::part, Better::lower, false, [](M m) { return Value(m.users.under_service.mean); }},
    {"user_under_service_p95", "under-service, p95", "over users", Unit::part, Better::lower, false,
     [](M m) { return Value(m.users.under_service.p95); }},
    {"user_gini", "Gini of service", "of delivered / allotted over users; 0: all served equally", Unit::number,
     Better::lower, false, [](M m) { return Value(m.users.gini); }},
    {"user_starving", "starving", "fraction of the entitlement that belongs to users served below 0.8 of theirs",
     Unit::part, Better::lower, false, [](M m) { return Value(m.users.starving); }},
    {"user_starving_longest_s", "starving, longest", "of any user without a break", Unit::seconds, Better::lower, false,
     [](M m) { return Value(to_seconds(m.users.starving_longest)); }},
    {"level_fs_error", "level FS error", "mean |log2 LevelFS| at the ends of days; 1: off by a factor of two",
     Unit::number, Better::lower, false, [](M m) { return Value(m.level_fs_error); }},
    {"equality_short_mean_core_s", "short of an equal part", "core-seconds a job, against N / jobs in the system",
     Unit::count, Better::lower, false, [](M m) { return Value(m.equality.short_mean_core_s); }},
    {"fair_start_missed", "fair starts missed", "jobs that started later than without later submissions", Unit::part,
     Better::lower, true, [](M m) { return fair_start(m, [](const FairStartMetrics& f) { return f.missed_part(); }); },
     [](M m) { return interval(m, &FairStartMetrics::missed_interval); }},
    {"fair_start_miss_mean_s", "fair start, mean miss", "over all measured jobs", Unit::seconds, Better::lower, false,
     [](M m) { return fair_start(m, [](const FairStartMetrics& f) { return f.miss_mean_s; }); },
     [](M m) { return interval(m, &FairStartMetrics::miss_mean_interval_s); }},
    {"fair_start_miss_max_s", "fair start, greatest miss", "of the measured jobs", Unit::seconds, Better::lower, false,
     [](M m) { return fair_start(m, [](const FairStartMetrics& f) { return to_seconds(f.miss_max); }); },
     // The greatest value of a sample is a lower bound.
     [](M m) {
         const double of_sample = m.fair_start ? to_seconds(m.fair_start->miss_max) : 0;
         const double most = m.is_fair_start_sampled() ? std::numeric_limits<double>::infinity() : of_sample;
         return m.fair_start ? std::optional(Interval{of_sample, most}) : std::nullopt;
     }},
    {"fair_start_jobs", "fair start, measured jobs", "all, or a sample", Unit::count, Better::neither, false,
     [](M m) { return fair_start(m, [](const FairStartMetrics& f) { return static_cast<double>(f.jobs); }); }},
};

}  // namespace

const std::vector<Figure>& figures() {
    return rows;
}

namespace {

std::string value_text(Unit unit, double value) {
    switch (unit) {
        case Unit::seconds:
            return duration_text(duration_from_seconds(value < 10 ? value : std::round(value)));
        case Unit::number:
            return fixed(value, value < 100 ? 3 : 1);
        case Unit::part:
            return percent(value);
        case Unit::count:
            break;
    }
    return grouped(std::llround(value));
}

/// The interval is a single value if it is of all jobs.
Interval interval_of(const Figure& figure, const Measured& policy, double value) {
    const auto found = figure.interval != nullptr ? figure.interval(policy) : std::nullopt;
    return found.value_or(Interval{value, value});
}

}  // namespace

std::string figure_text(const Figure& figure, const Measured& policy) {
    const Value value = figure.of(policy);
    if (!value) {
        return "-";
    }
    const Interval in = interval_of(figure, policy, *value);
    const std::string text = value_text(figure.unit, *value);
    if (in.low == in.high) {
        return text;
    }
    return std::isinf(in.high)
               ? "at least " + text
               : text + " (" + value_text(figure.unit, in.low) + " to " + value_text(figure.unit, in.high) + ")";
}

std::optional<std::size_t> best(const Figure& figure, const std::vector<Measured>& policies) {
    if (figure.better == Better::neither || policies.size() < 2) {
        return std::nullopt;
    }
    const bool are_of_equal_jobs = std::all_of(policies.begin(), policies.end(), [&](const Measured& policy) {
        return policy.is_complete && policy.jobs.jobs == policies.front().jobs.jobs && figure.of(policy);
    });
    if (!are_of_equal_jobs) {
        return std::nullopt;
    }
    // As a value of which lower is better: the negative of a figure of which higher is.
    std::vector<std::pair<std::size_t, Interval>> known;
    for (std::size_t i = 0; i < policies.size(); ++i) {
        const Interval in = interval_of(figure, policies[i], *figure.of(policies[i]));
        known.emplace_back(i, figure.better == Better::lower ? in : Interval{-in.high, -in.low});
    }
    // The policy whose interval ends before all others begin.
    for (const auto& [i, in] : known) {
        const bool is_best = std::all_of(known.begin(), known.end(), [&, at = i, high = in.high](const auto& other) {
            return other.first == at || high < other.second.low;
        });
        if (is_best) {
            return i;
        }
    }
    return std::nullopt;
}

}  // namespace weir::cmd
