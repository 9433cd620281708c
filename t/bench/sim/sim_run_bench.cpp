// SPDX-License-Identifier: LGPL-3.0-only
// `weir sim run` from file to figures, over all logs of a folder: work per job, memory and, for the record, time.
//
//     sim_run_bench WEIR FOLDER [SCHEDULER...]
//
// A line a log and scheduler: jobs; passes and jobs looked at, per job; most jobs in the system at once; peak memory in
// all, and for each job in the system beyond what a run of one job takes; seconds of CPU and jobs a second of it.
// Counts do not depend on the machine; times do and belong into baseline.json with its name. Exits with 1 when memory
// grows with the log: more than 1 KiB for each job in the system. Small itself, because the kernel counts what a
// process was before it became another as its peak.
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "libfairshare/base/json/json.hpp"

namespace fs = std::filesystem;
using weir::Json;

namespace {

constexpr double bytes_per_job_max = 1024;

struct Run {
    double jobs = 0, passes = 0, considered = 0, in_system = 0;
    double bytes = 0, seconds = 0;
};

double number(const json_t* object, const char* key) {
    return json_number_value(json_object_get(object, key));
}

std::optional<Run> measured(const std::string& weir, const std::string& log, const std::string& scheduler) {
    int pipes[2];
    if (pipe(pipes) != 0) {
        return std::nullopt;
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pipes[1], 1);
    posix_spawn_file_actions_addclose(&actions, pipes[0]);
    posix_spawn_file_actions_addclose(&actions, pipes[1]);
    std::vector<std::string> words{weir, "sim", "run", "--json", "--scheduler", scheduler, log};
    std::vector<char*> argv;
    for (std::string& word : words) {
        argv.push_back(word.data());
    }
    argv.push_back(nullptr);
    pid_t child = 0;
    const int failed = posix_spawn(&child, weir.c_str(), &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(pipes[1]);
    std::string text;
    char piece[4096];
    for (ssize_t n = 0; failed == 0 && (n = read(pipes[0], piece, sizeof piece)) > 0;) {
        text.append(piece, static_cast<std::size_t>(n));
    }
    close(pipes[0]);
    int status = 0;
    rusage used{};
    if (failed != 0 || wait4(child, &status, 0, &used) != child || status != 0) {
        return std::nullopt;
    }
    const auto document = Json::parse(text);
    if (!document) {
        return std::nullopt;
    }
    const json_t* cost = json_object_get(document->get(), "cost");
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    return Run{number(document->get(), "jobs"),
               number(cost, "passes"),
               number(cost, "considered"),
               number(cost, "in_system_max"),
               1024. * static_cast<double>(used.ru_maxrss),
               seconds(used.ru_utime) + seconds(used.ru_stime)};
}

/// What a run takes whatever it replays, in bytes.
std::optional<double> memory_of_one_job(const std::string& weir) {
    const fs::path log = fs::temp_directory_path() / ("sim-run-bench-" + std::to_string(getpid()) + ".swf");
    std::ofstream(log) << "; MaxProcs: 1\n1 0 -1 1 1 -1 -1 1 1 -1 1 1 1 -1 1 -1 -1 -1\n";
    const auto run = measured(weir, log, "fcfs");
    fs::remove(log);
    return run ? std::optional(run->bytes) : std::nullopt;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        std::fprintf(stderr, "usage: sim_run_bench WEIR FOLDER [SCHEDULER...]\n");
        return 2;
    }
    std::vector<std::string> schedulers(argv + 3, argv + argc);
    if (schedulers.empty()) {
        schedulers = {"fcfs", "easy"};
    }
    std::vector<fs::path> logs;
    if (fs::is_directory(argv[2])) {
        for (const auto& entry : fs::directory_iterator(argv[2])) {
            if (entry.path().string().find(".swf") != std::string::npos) {
                logs.push_back(entry.path());
            }
        }
    }
    std::sort(logs.begin(), logs.end());
    if (logs.empty()) {
        std::printf("[skip] no logs in %s\n", argv[2]);
        return 0;
    }
    const auto base = memory_of_one_job(argv[1]);
    std::printf("%-26s%-16s%9s%9s%11s%11s%7s%7s%8s%10s\n", "log", "scheduler", "jobs", "passes", "looked at",
                "in system", "MiB", "B/job", "CPU s", "jobs/s");
    int failures = base ? 0 : 1;
    for (const fs::path& log : logs) {
        for (const std::string& scheduler : schedulers) {
            const auto run = measured(argv[1], log, scheduler);
            if (!run || !base) {
                std::printf("[fail] %s under %s\n", log.c_str(), scheduler.c_str());
                failures++;
                continue;
            }
            const double per_job = std::max(0., run->bytes - *base) / run->in_system;
            std::printf("%-26s%-16s%9.0f%9.2f%11.2f%11.0f%7.1f%7.0f%8.2f%10.0f\n", log.filename().c_str(),
                        scheduler.c_str(), run->jobs, run->passes / run->jobs, run->considered / run->jobs,
                        run->in_system, run->bytes / (1 << 20), per_job, run->seconds, run->jobs / run->seconds);
            // Below a thousand jobs the allocator's own steps are all that one would see.
            if (run->in_system >= 1000 && per_job > bytes_per_job_max) {
                std::printf("[fail] more than %.0f bytes for each job in the system\n", bytes_per_job_max);
                failures++;
            }
        }
    }
    return failures > 0 ? 1 : 0;
}
