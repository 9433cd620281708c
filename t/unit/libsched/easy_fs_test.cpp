// SPDX-License-Identifier: LGPL-3.0-only
// EASY in order of decayed usage (half-life 7 days, equal shares, at every pass), through the production code, against
// the figures of an independent program on real logs. Without the logs: a visible skip (trace_files.hpp).
#include <cmath>

#include "libsched/sim/fairness.hpp"
#include "libsched/sim/replay_order.hpp"
#include "t/unit/libsched/replays.hpp"
#include "t/unit/libsched/trace_files.hpp"

using namespace weir;
namespace fs = std::filesystem;

namespace {

PolicySettings by_usage_alone() {
    PolicySettings settings;
    settings.weights = {0, 1e9, 0, 0, 0, 0};
    settings.half_life = std::chrono::hours(24 * 7);  // the other program's
    settings.update_interval = Duration{};
    return settings;
}

void same(const char* what, double got, double printed, int decimals) {
    INFO(what << ": " << got << ", expected " << printed);
    CHECK(std::abs(got - printed) <= .5000001 * std::pow(10., -decimals));
}

struct Row {
    const char* log;
    double slowdown_mean, slowdown_median, slowdown_p95, slowdown_max;
    double jain, deviation, under_service, gini, wait, wait_max;
};
constexpr Row rows[] = {
    {"KTH-SP2-1996", 43.972, 12.846, 186.43, 1261.3, .1233, .25364, .3541, .2915, 6273.19, 1788290},
    {"CTC-SP2-1996", 15.850, 3.067, 46.43, 1065.7, .0556, .42819, .3259, .2418, 23160.47, 17612849},
    {"SDSC-BLUE-2000", 24.295, 5.041, 42.20, 6232.4, .0071, .29186, .3518, .2063, 6621.16, 4596492},
};

}  // namespace

TEST_CASE("easy-fs: users' figures of real logs are those of an independent program") {
    const auto folder = test::traces();
    if (!folder) {
        return;
    }
    for (const Row& row : rows) {
        const fs::path path = *folder / (std::string(row.log) + ".swf.gz");
        if (!fs::exists(path)) {
            continue;
        }
        CAPTURE(row.log);
        const test::TraceFile log = test::load_trace(path);
        MultifactorOrder order(by_usage_alone(), static_cast<std::uint32_t>(log.cores), LogShares::of_users());
        const auto outcomes = test::replay(log.jobs, log.cores, Easy{}, &order);
        const auto fairness = fairness_metrics(Timeline(outcomes), parties_by_user(test::jobs_of(outcomes)), log.cores);
        const LevelMetrics& users = fairness.levels.front();
        same("users' slowdown, mean", users.slowdown.mean, row.slowdown_mean, 3);
        same("users' slowdown, median", users.slowdown.median, row.slowdown_median, 3);
        same("users' slowdown, p95", users.slowdown.p95, row.slowdown_p95, 2);
        same("users' slowdown, max", users.slowdown.max, row.slowdown_max, 1);
        same("Jain index", users.jain_slowdown, row.jain, 4);
        same("share deviation", users.deviation, row.deviation, 5);
        same("under-service", users.under_service.mean, row.under_service, 4);
        same("Gini", users.gini, row.gini, 4);
        JobMetricsSum sum(log.cores);
        for (const Outcome& outcome : outcomes) {
            sum.add(outcome);
        }
        same("mean wait", sum.metrics().wait_s.mean, row.wait, 2);
        CHECK(sum.metrics().wait_s.max == row.wait_max);
        const OrderCounts& counts = order.counts();
        const auto jobs = static_cast<double>(log.jobs.size());
        std::printf(
            "[ok] %s: slowdown %.4f, wait %.2f, max %.0f; a job: %.2f evaluations, %.2f computed, %.2f changed\n",
            row.log, users.slowdown.mean, sum.metrics().wait_s.mean, sum.metrics().wait_s.max,
            static_cast<double>(counts.evaluations) / jobs, static_cast<double>(counts.computed) / jobs,
            static_cast<double>(counts.changed) / jobs);
    }
}

// Of easy-fs, the users' slowdown; of EASY, the longest wait: figures of the independent program.
TEST_CASE("defaults: users' slowdown within a tenth of easy-fs and the longest wait within twice EASY's on each log") {
    struct Aim {
        const char* log;
        double slowdown, wait_max_s;
    };
    constexpr Aim aims[] = {{"KTH-SP2-1996", 43.972, 262194},   {"CTC-SP2-1996", 15.850, 324009},
                            {"SDSC-BLUE-2000", 24.295, 422539}, {"HPC2N-2002", 24.218, 1163514},
                            {"UniLu-Gaia-2014", 1.250, 28045},  {"NASA-iPSC-1993", 1.002, 23753}};
    const auto folder = test::traces();
    for (const Aim& aim : aims) {
        const fs::path path = folder ? *folder / (std::string(aim.log) + ".swf.gz") : fs::path{};
        if (!folder || !fs::exists(path)) {
            continue;
        }
        CAPTURE(aim.log);
        const test::TraceFile log = test::load_trace(path);
        MultifactorOrder order(PolicySettings{}, static_cast<std::uint32_t>(log.cores), LogShares::of_users());
        const auto outcomes = test::replay(log.jobs, log.cores, Easy{}, &order);
        const auto fairness = fairness_metrics(Timeline(outcomes), parties_by_user(test::jobs_of(outcomes)), log.cores);
        CHECK(fairness.levels.front().slowdown.mean <= 1.1 * aim.slowdown);
        JobMetricsSum sum(log.cores);
        for (const Outcome& outcome : outcomes) {
            sum.add(outcome);
        }
        CHECK(sum.metrics().wait_s.max <= 2 * aim.wait_max_s);
    }
}
