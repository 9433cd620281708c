// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the jobs per second of a running instance from submission to INACTIVE, measured by one client: it keeps a
// window of submissions open and counts the `clean` events of the journal. Must not know the broker. Usage:
// FLUX_URI=... job_rate_bench [JOBS [WINDOW [QUEUE]]]
#include <flux/core.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "libfairshare/base/json/json.hpp"
#include "libfairshare/base/signed_jobspec.hpp"

namespace {

using weir::Json;

struct Run {
    flux_t* h = nullptr;
    std::string job;  // signed jobspec
    long count = 0;
    long submitted = 0;
    long accepted = 0;
    long clean = 0;
    long failed = 0;
};

std::string signed_jobspec(const std::string& queue) {
    const std::string in_queue = queue.empty() ? "" : R"("queue":")" + queue + R"(",)";
    const std::string jobspec =
        R"({"version":1,"resources":[{"type":"slot","count":1,"label":"t","with":[{"type":"core","count":1}]}],)"
        R"("tasks":[{"command":["true"],"slot":"t","count":{"per_slot":1}}],)"
        R"("attributes":{"system":{)" +
        in_queue + R"("duration":60,"exec":{"test":{"run_duration":"0s"}}}}})";
    return weir::sign_none(jobspec, getuid());
}

void submit_one(Run& run);

void on_submitted(flux_future_t* f, void* arg) {
    Run& run = *static_cast<Run*>(arg);
    if (flux_rpc_get(f, nullptr) < 0) {
        if (run.failed++ == 0) {
            std::fprintf(stderr, "submit: %s\n", flux_future_error_string(f));
        }
    } else {
        ++run.accepted;
    }
    flux_future_destroy(f);
    submit_one(run);
}

void submit_one(Run& run) {
    if (run.submitted < run.count) {
        ++run.submitted;
        flux_future_t* f = flux_rpc_pack(run.h, "job-ingest.submit", FLUX_NODEID_ANY, 0, "{s:s s:i s:i}", "J",
                                         run.job.c_str(), "urgency", 16, "flags", 0);
        flux_future_then(f, -1, on_submitted, &run);
    }
}

void on_journal(flux_future_t* f, void* arg) {
    Run& run = *static_cast<Run*>(arg);
    json_t* events = nullptr;
    if (flux_rpc_get_unpack(f, "{s:o}", "events", &events) < 0) {
        std::fprintf(stderr, "journal: %s\n", flux_future_error_string(f));
        std::exit(1);
    }
    std::size_t i = 0;
    json_t* event = nullptr;
    json_array_foreach(events, i, event) {
        const char* name = json_string_value(json_object_get(event, "name"));
        run.clean += name != nullptr && std::string(name) == "clean" ? 1 : 0;
    }
    flux_future_reset(f);
    if (run.clean + run.failed >= run.count) {
        flux_reactor_stop(flux_get_reactor(run.h));
    }
}

long resident_kib(const std::string& pid) {
    std::ifstream status("/proc/" + pid + "/status");
    for (std::string word; status >> word;) {
        if (word == "VmRSS:") {
            long kib = 0;
            status >> kib;
            return kib;
        }
    }
    return 0;
}

/// User and system seconds of a process.
double cpu_seconds(const std::string& pid) {
    std::ifstream stat("/proc/" + pid + "/stat");
    std::string text((std::istreambuf_iterator<char>(stat)), std::istreambuf_iterator<char>());
    unsigned long user = 0;
    unsigned long system = 0;
    const auto paren = text.rfind(')');
    if (paren == std::string::npos ||
        std::sscanf(text.c_str() + paren + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) !=
            2) {
        return 0;
    }
    return static_cast<double>(user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace

int main(int argc, char** argv) {
    Run run;
    run.count = argc > 1 ? std::atol(argv[1]) : 10'000;
    const int window = argc > 2 ? std::atoi(argv[2]) : 256;
    run.h = flux_open(nullptr, 0);
    if (run.h == nullptr) {
        std::perror("job_rate_bench: flux_open");
        return 1;
    }
    run.job = signed_jobspec(argc > 3 ? argv[3] : "");
    const char* pid_text = flux_attr_get(run.h, "broker.pid");
    const std::string pid = pid_text != nullptr ? pid_text : "0";
    flux_future_t* journal = flux_rpc_pack(run.h, "job-manager.events-journal", FLUX_NODEID_ANY, FLUX_RPC_STREAMING,
                                           "{s:{s:i}}", "allow", "clean", 1);
    flux_future_then(journal, -1, on_journal, &run);
    const long kib_before = resident_kib(pid);
    const double cpu_before = cpu_seconds(pid);
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < window; ++i) {
        submit_one(run);
    }
    flux_reactor_run(flux_get_reactor(run.h), 0);
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const double cpu = cpu_seconds(pid) - cpu_before;
    std::printf(
        "jobs %ld failed %ld wall_s %.3f jobs_per_s %.0f broker_cpu_s %.3f cpu_us_per_job %.0f rss_kib %ld -> %ld\n",
        run.clean, run.failed, wall, static_cast<double>(run.clean) / wall, cpu,
        cpu / static_cast<double>(run.clean) * 1e6, kib_before, resident_kib(pid));
    flux_future_destroy(journal);
    flux_close(run.h);
    return run.failed == 0 ? 0 : 1;
}
