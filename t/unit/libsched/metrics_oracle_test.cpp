// SPDX-License-Identifier: LGPL-3.0-only
// Metrics and fairness figures against those published for, or computed from, the reference schedules of real logs, by
// an independent program. Without the logs: a visible skip (trace_files.hpp).
#include <cmath>

#include "libsched/sim/fair_start.hpp"
#include "libsched/sim/fairness.hpp"
#include "t/unit/libsched/trace_files.hpp"

using namespace weir;
namespace fs = std::filesystem;

namespace {

std::vector<Outcome> outcomes_of(const test::TraceFile& log, const fs::path& starts) {
    const auto seconds = test::reference_starts(starts);
    REQUIRE(seconds.size() == log.jobs.size());
    std::vector<Outcome> outcomes;
    for (const SimJob& job : log.jobs) {
        Outcome outcome;
        outcome.job = job;
        outcome.start = Instant{std::chrono::seconds(seconds.at(job.number))};
        outcomes.push_back(outcome);
    }
    return outcomes;
}

/// Equal when `got` rounds to what is printed with so many decimals; with four it is the demanded 1e-4.
void same(const char* what, double got, double printed, int decimals) {
    INFO(what << ": " << got << ", expected " << printed);
    CHECK(std::abs(got - printed) <= .5000001 * std::pow(10., -decimals));
}

struct Whole {
    const char* log;
    const char* policy;
    double wait, slowdown, wait_max, utilization;
};
constexpr double unknown = -1;

constexpr Whole whole_logs[] = {
    {"KTH-SP2-1996", "fcfs", 389861.06, 7510.79, unknown, .69885},
    {"KTH-SP2-1996", "easy", 6804.97, 90.756, 262194, .69924},
    {"KTH-SP2-1996", "easy-sjf", 5936.59, 69.547, unknown, unknown},
    {"KTH-SP2-1996", "cons", 8021.34, 101.923, unknown, unknown},
    {"KTH-SP2-1996", "consfw", 7295.10, 88.026, unknown, unknown},
    {"CTC-SP2-1996", "fcfs", 767875.63, 4260.96, unknown, .79754},
    {"CTC-SP2-1996", "easy", 14990.20, 51.551, 324009, .84142},
    {"CTC-SP2-1996", "easy-sjf", 12254.04, 29.950, unknown, unknown},
    {"CTC-SP2-1996", "cons", 22644.40, 71.181, unknown, unknown},
    {"CTC-SP2-1996", "consfw", 17918.65, 53.673, unknown, unknown},
    {"SDSC-BLUE-2000", "fcfs", 379080.43, 3427.84, unknown, .74673},
    {"SDSC-BLUE-2000", "easy", 7751.05, 35.206, 422539, .76806},
    {"SDSC-BLUE-2000", "easy-sjf", 5902.57, 20.015, unknown, unknown},
    {"SDSC-BLUE-2000", "cons", 10406.84, 56.433, unknown, unknown},
    {"SDSC-BLUE-2000", "consfw", 7950.66, 37.423, unknown, unknown},
    {"HPC2N-2002", "fcfs", 16189.15, 207.81, unknown, .59553},
    {"HPC2N-2002", "easy", 10800.03, 87.104, 1163514, .59553},
    {"HPC2N-2002", "easy-sjf", 10227.56, 82.091, unknown, unknown},
    {"HPC2N-2002", "cons", 11892.64, 93.002, unknown, unknown},
    {"HPC2N-2002", "consfw", 10893.58, 85.948, unknown, unknown},
    {"UniLu-Gaia-2014", "fcfs", 445.96, 3.107, unknown, .45238},
    {"UniLu-Gaia-2014", "easy", 188.96, 1.621, 28045, .45238},
    {"UniLu-Gaia-2014", "easy-sjf", 205.71, 1.786, unknown, unknown},
    {"UniLu-Gaia-2014", "cons", 304.64, 2.522, unknown, unknown},
    {"UniLu-Gaia-2014", "consfw", 261.83, 2.054, unknown, unknown},
};

struct Fair {
    const char* log;
    double slowdown_mean, slowdown_median, slowdown_p95, slowdown_max;  // of users, to one decimal; p95 and max to none
    double jain, deviation, under_service, gini;
    double missed_percent, miss, miss_of_missed, miss_max;
};
constexpr Fair under_easy[] = {
    {"KTH-SP2-1996", 125.2, 47.7, 441, 2997, .169, .2522, .507, .409, 12.97, 803.7, 6195.6, 194935},
    {"CTC-SP2-1996", 53.5, 28.1, 187, 2224, .192, .4640, .579, .426, 22.61, 1931.8, unknown, 216439},
    {"SDSC-BLUE-2000", 43.7, 24.2, 118, 1446, .199, .3228, .554, .357, unknown, unknown, unknown, unknown},
};

}  // namespace

TEST_CASE("metrics: whole-log figures of the reference schedules") {
    const auto folder = test::traces();
    if (!folder) {
        return;
    }
    for (const Whole& row : whole_logs) {
        const fs::path path = *folder / (std::string(row.log) + ".swf.gz");
        if (!fs::exists(path)) {
            continue;
        }
        CAPTURE(row.log, row.policy);
        const test::TraceFile log = test::load_trace(path);
        const auto outcomes =
            outcomes_of(log, *folder / "starts" / (std::string(row.log) + "." + row.policy + ".csv.gz"));
        JobMetricsSum sum(log.cores);
        for (const Outcome& outcome : outcomes) {
            sum.add(outcome);
        }
        const JobMetrics jobs = sum.metrics();
        same("mean wait", jobs.wait_s.mean, row.wait, 2);
        same("bounded slowdown", jobs.slowdown.mean, row.slowdown, row.slowdown > 200 ? 2 : 3);
        if (row.wait_max != unknown) {
            CHECK(jobs.wait_s.max == row.wait_max);
        }
        if (row.utilization != unknown) {
            same("utilization", machine_metrics(Timeline(outcomes), log.cores).utilization, row.utilization, 5);
        }
        std::printf("[ok] %s.%s: wait %.4f, slowdown %.6f\n", row.log, row.policy, jobs.wait_s.mean,
                    jobs.slowdown.mean);
    }
}

TEST_CASE("fairness: users' figures under EASY, equal shares") {
    const auto folder = test::traces();
    if (!folder) {
        return;
    }
    for (const Fair& row : under_easy) {
        const fs::path path = *folder / (std::string(row.log) + ".swf.gz");
        if (!fs::exists(path)) {
            continue;
        }
        CAPTURE(row.log);
        const test::TraceFile log = test::load_trace(path);
        const auto outcomes = outcomes_of(log, *folder / "starts" / (std::string(row.log) + ".easy.csv.gz"));
        const auto fairness = fairness_metrics(Timeline(outcomes), parties_by_user(log.jobs), log.cores);
        REQUIRE(fairness.levels.size() == 1);
        const LevelMetrics& users = fairness.levels.front();
        same("users' slowdown, mean", users.slowdown.mean, row.slowdown_mean, 1);
        same("users' slowdown, median", users.slowdown.median, row.slowdown_median, 1);
        same("users' slowdown, p95", users.slowdown.p95, row.slowdown_p95, 0);
        same("users' slowdown, max", users.slowdown.max, row.slowdown_max, 0);
        same("Jain index", users.jain_slowdown, row.jain, 3);
        same("share deviation", users.deviation, row.deviation, 4);
        same("under-service", users.under_service.mean, row.under_service, 3);
        same("Gini", users.gini, row.gini, 3);
        std::printf("[ok] %s: deviation %.6f, under-service %.6f, Gini %.6f, Jain %.6f\n", row.log, users.deviation,
                    users.under_service.mean, users.gini, users.jain_slowdown);
    }
}

TEST_CASE("fair start: misses under EASY") {
    const auto folder = test::traces();
    if (!folder) {
        return;
    }
    for (const Fair& row : under_easy) {
        const fs::path path = *folder / (std::string(row.log) + ".swf.gz");
        if (row.missed_percent == unknown || !fs::exists(path)) {
            continue;
        }
        CAPTURE(row.log);
        const test::TraceFile log = test::load_trace(path);
        const auto outcomes = outcomes_of(log, *folder / "starts" / (std::string(row.log) + ".easy.csv.gz"));
        const auto fair = fair_starts(outcomes, log.cores, Easy{});
        REQUIRE(fair.has_value());
        const FairStartMetrics metrics = fair_start_metrics(outcomes, *fair, outcomes.size());
        same("missed, %", 100 * metrics.missed_part(), row.missed_percent, 2);
        same("mean miss", metrics.miss_mean_s, row.miss, 1);
        if (row.miss_of_missed != unknown) {
            same("mean miss of the missed", metrics.miss_mean_of_missed_s, row.miss_of_missed, 1);
        }
        CHECK(to_seconds(metrics.miss_max) == row.miss_max);
        std::printf("[ok] %s: %.4f %% missed, mean %.4f s\n", row.log, 100 * metrics.missed_part(),
                    metrics.miss_mean_s);
    }
}
