// SPDX-License-Identifier: LGPL-3.0-only
// Metrics and fairness figures against those published for, or computed from, the reference schedules of real logs, by
// an independent program. Without the logs: a visible skip (trace_files.hpp).
#include <array>
#include <cmath>
#include <string_view>

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

constexpr double unknown = -1;
constexpr std::array<const char*, 5> policies{"fcfs", "easy", "easy-sjf", "cons", "consfw"};

/// A log's figures, in the order of `policies`; the machine's only under the first two.
struct Whole {
    const char* log;
    std::array<double, 5> wait;
    std::array<double, 5> slowdown;
    double easy_wait_max;
    std::array<double, 2> utilization;
};
constexpr Whole whole_logs[] = {
    {"KTH-SP2-1996",
     {389861.06, 6804.97, 5936.59, 8021.34, 7295.10},
     {7510.79, 90.756, 69.547, 101.923, 88.026},
     262194,
     {.69885, .69924}},
    {"CTC-SP2-1996",
     {767875.63, 14990.20, 12254.04, 22644.40, 17918.65},
     {4260.96, 51.551, 29.950, 71.181, 53.673},
     324009,
     {.79754, .84142}},
    {"SDSC-BLUE-2000",
     {379080.43, 7751.05, 5902.57, 10406.84, 7950.66},
     {3427.84, 35.206, 20.015, 56.433, 37.423},
     422539,
     {.74673, .76806}},
    {"HPC2N-2002",
     {16189.15, 10800.03, 10227.56, 11892.64, 10893.58},
     {207.81, 87.104, 82.091, 93.002, 85.948},
     1163514,
     {.59553, .59553}},
    {"UniLu-Gaia-2014",
     {445.96, 188.96, 205.71, 304.64, 261.83},
     {3.107, 1.621, 1.786, 2.522, 2.054},
     28045,
     {.45238, .45238}},
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
        const test::TraceFile log = test::load_trace(path);
        for (std::size_t p = 0; p < policies.size(); ++p) {
            CAPTURE(row.log, policies[p]);
            const auto outcomes =
                outcomes_of(log, *folder / "starts" / (std::string(row.log) + "." + policies[p] + ".csv.gz"));
            JobMetricsSum sum(log.cores);
            for (const Outcome& outcome : outcomes) {
                sum.add(outcome);
            }
            const JobMetrics jobs = sum.metrics();
            same("mean wait", jobs.wait_s.mean, row.wait[p], 2);
            same("bounded slowdown", jobs.slowdown.mean, row.slowdown[p], row.slowdown[p] > 200 ? 2 : 3);
            if (policies[p] == std::string_view("easy")) {
                CHECK(jobs.wait_s.max == row.easy_wait_max);
            }
            if (p < row.utilization.size()) {
                same("utilization", machine_metrics(Timeline(outcomes), log.cores).utilization, row.utilization[p], 5);
            }
            std::printf("[ok] %s.%s: wait %.4f, slowdown %.6f\n", row.log, policies[p], jobs.wait_s.mean,
                        jobs.slowdown.mean);
        }
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
        const auto fair =
            fair_starts(outcomes, log.cores, Easy{}, fair_start_places(outcomes.size(), outcomes.size(), 0));
        REQUIRE(fair.has_value());
        const FairStartMetrics metrics = fair_start_metrics(outcomes, *fair);
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
