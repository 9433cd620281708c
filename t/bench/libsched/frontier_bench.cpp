// SPDX-License-Identifier: LGPL-3.0-only
// Searches what can be had of two things that users want: little slowdown for all of them, and no job that waits for
// ever. Replays logs under EASY and hybrids with many settings of the multifactor policy; prints a table, writes it as
// CSV, and draws the frontier as SVG.
//   frontier_bench TRACES [--csv FILE] [--svg FILE] [LOG...]
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "libfairshare/base/fsd.hpp"
#include "libsched/sim/metrics.hpp"
#include "libsched/sim/priority_order.hpp"
#include "libsched/sim/simulate.hpp"
#include "t/bench/libsched/frontier_svg.hpp"

using namespace weir;
namespace fs = std::filesystem;

namespace {

struct Log {
    std::string name;
    std::vector<SimJob> jobs;
    std::int64_t cores = 0;
};

Log load(const fs::path& path) {
    Log log;
    log.name = path.filename().string().substr(0, path.filename().string().find('.'));
    auto reader = SwfReader::open(path.string(), {});
    while (reader) {
        const auto job = reader->next();
        if (!job || !*job) {
            break;
        }
        log.jobs.push_back(sim_job(**job).value());
    }
    log.cores = reader ? reader->max_processors() : 0;
    return log;
}

struct Point {
    double slowdown = 0;  ///< mean over users of their mean bounded slowdown
    Duration wait_max{};
};

Point replay(const Log& log, const PolicySettings& settings, const Policy& scheduler) {
    const auto order = make_priority_order(settings, log.cores, LogShares::of_users()).value();
    struct Sum {
        double slowdown = 0;
        double jobs = 0;
    };
    std::map<std::uint32_t, Sum> users;
    Point point;
    std::size_t next = 0;
    const auto done = simulate(
        log.cores, scheduler,
        [&]() -> Result<std::optional<SimJob>> {
            return next < log.jobs.size() ? std::optional(log.jobs[next++]) : std::nullopt;
        },
        [&](const Outcome& outcome) {
            Sum& sum = users[outcome.job.user];
            sum.slowdown += bounded_slowdown(outcome);
            sum.jobs += 1;
            point.wait_max = std::max(point.wait_max, outcome.wait());
        },
        {.order = order.get()});
    WEIR_CHECK(done.has_value());
    for (const auto& [user, sum] : users) {
        point.slowdown += sum.slowdown / sum.jobs / static_cast<double>(users.size());
    }
    return point;
}

struct Candidate {
    std::string name;
    PolicySettings settings;
    Backfill scheduler;
};

constexpr auto hour = std::chrono::hours(1);

PolicySettings by(double wait, double fairshare) {
    PolicySettings settings;
    settings.half_life = 24 * 7 * hour;
    settings.weights = {wait, fairshare, 0, 0, 0, 0};
    settings.update_interval = Duration{};
    return settings;
}

/// Who gets a reservation: one job or several, at once or only after a wait.
void add_thresholds(std::vector<Candidate>& made) {
    for (const int after_h : {72, 14 * 24}) {
        PolicySettings s = by(2e8, 1e8);
        s.wait_after = {after_h * hour, 0};
        s.wait_max = 48 * hour;
        for (const std::uint32_t depth : {1U, 2U, 8U}) {
            for (const int reserve_h : {0, 24, 72}) {
                const Backfill scheduler{.depth = depth, .reserve_after = reserve_h * hour};
                made.push_back(
                    {"wait-after " + encode_fsd(s.wait_after.time) + " " + name_of(Policy{scheduler}), s, scheduler});
            }
        }
    }
}

/// Half-lives, and how a job that waits long comes to stand above those who used less.
std::vector<Candidate> candidates() {
    std::vector<Candidate> made;
    PolicySettings fcfs;
    fcfs.policy = PolicyKind::fcfs;
    made.push_back({"easy", fcfs, {}});
    made.push_back({"easy-fs", by(0, 1e9), {}});
    made.push_back({"default", PolicySettings{}, {}});
    add_thresholds(made);
    for (const int half_life_d : {7, 21}) {
        for (const int after_h : {0, 24, 80}) {
            for (const int limits : {0, 2, 4}) {
                for (const int max_h : {24, 48, 192}) {
                    PolicySettings s = by(2e8, 1e8);
                    s.half_life = 24 * half_life_d * hour;
                    s.wait_after = {after_h * hour, static_cast<double>(limits)};
                    s.wait_max = max_h * hour;
                    made.push_back({"half-life " + encode_fsd(s.half_life) + ", wait-after " +
                                        encode_fsd(s.wait_after.time) + " or " + std::to_string(limits) +
                                        " limits, wait-max " + encode_fsd(s.wait_max),
                                    s,
                                    {}});
                }
            }
        }
    }
    return made;
}

}  // namespace

int main(int argc, char** argv) {
    std::string svg, csv;
    std::vector<std::string> names;
    for (int i = 1; i < argc; i++) {
        if (std::strcmp(argv[i], "--svg") == 0 && i + 1 < argc) {
            svg = argv[++i];
        } else if (std::strcmp(argv[i], "--csv") == 0 && i + 1 < argc) {
            csv = argv[++i];
        } else {
            names.emplace_back(argv[i]);
        }
    }
    if (names.empty() || !fs::is_directory(names[0])) {
        std::printf("[skip] no logs: frontier_bench TRACES [--csv FILE] [--svg FILE] [LOG...]\n");
        return 0;
    }
    std::vector<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(names[0])) {
        const std::string file = entry.path().filename().string();
        const bool wanted = names.size() == 1 || std::any_of(names.begin() + 1, names.end(), [&](const auto& name) {
                                return file.rfind(name, 0) == 0;
                            });
        if (wanted && file.find(".swf") != std::string::npos) {
            paths.push_back(entry.path());
        }
    }
    std::sort(paths.begin(), paths.end());
    std::FILE* out = csv.empty() ? stdout : std::fopen(csv.c_str(), "w");
    std::fprintf(out, "log,settings,users_slowdown,longest_wait_s,slowdown_over_easy_fs,wait_over_easy\n");
    std::vector<FrontierPanel> panels;
    for (const fs::path& path : paths) {
        const Log log = load(path);
        FrontierPanel panel{log.name, {}};
        Point easy, easy_fs;
        for (const Candidate& candidate : candidates()) {
            const Point point = replay(log, candidate.settings, candidate.scheduler);
            easy = candidate.name == "easy" ? point : easy;
            easy_fs = candidate.name == "easy-fs" ? point : easy_fs;
            std::fprintf(out, "%s,\"%s\",%.3f,%.0f,%.4f,%.4f\n", log.name.c_str(), candidate.name.c_str(),
                         point.slowdown, to_seconds(point.wait_max),
                         easy_fs.slowdown > 0 ? point.slowdown / easy_fs.slowdown : 0.,
                         to_seconds(point.wait_max) / to_seconds(easy.wait_max));
            std::fflush(out);
            panel.points.push_back({candidate.name, point.slowdown, to_seconds(point.wait_max)});
        }
        panels.push_back(std::move(panel));
    }
    if (!csv.empty()) {
        std::fclose(out);
    }
    if (!svg.empty()) {
        write_frontier_svg(svg, panels);
    }
    return 0;
}
