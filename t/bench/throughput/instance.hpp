// SPDX-License-Identifier: LGPL-3.0-only
// Owns: an embedded instance to measure: started, asked for its memory and CPU, ended; and a client that submits.
// Must not know: what is measured. Nothing of the broker but its command line and the wire protocol.
#pragma once
#include <dirent.h>
#include <flux/core.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>

#include "libfairshare/base/signed_jobspec.hpp"

namespace weir::bench {

inline constexpr int in_flight_max = 256;
using Clock = std::chrono::steady_clock;

struct Plan {
    const char* program;
    int jobs;
    int outstanding = 5000;
    bool with_journal = false;
    bool with_priority = false;
    std::string extra{};
};

struct Broker {
    const char* program;
    bool with_journal;
    std::string dir;
    pid_t pid = -1;
    std::string uri() const { return "local://" + dir + "/local-0"; }

    explicit Broker(const Plan& plan) : program(plan.program), with_journal(plan.with_journal) {
        char name[] = "/tmp/weir-throughput-XXXXXX";
        dir = ::mkdtemp(name);
        std::ofstream(dir + "/broker.toml")
            << "[weir-broker]\nmodules = [\"kvs\", \"resource\", \"job-manager\", \"job-exec\", \"sched-weir-fcfs\""
            << (plan.with_priority ? ", \"job-priority\"" : "") << "]\n"
            << (plan.with_priority ? "[job-manager]\nplugins = [{ load = \"job-priority-tap.so\" }]\n" : "")
            << "[[resource.config]]\nhosts = \"node[0-3]\"\ncores = \"0-15\"\n"
            << plan.extra << "\n";
        start();
    }
    void start() {
        pid = ::fork();
        if (pid == 0) {
            const std::string state = with_journal ? "statedir=" + dir : "broker.module-nopanic=0";
            ::execl(program, program, "-c", (dir + "/broker.toml").c_str(), "--rundir", dir.c_str(), "-S",
                    state.c_str(), nullptr);
            std::perror(program);
            ::_exit(127);
        }
    }
    void end(int signal) {
        ::kill(pid, signal);
        ::waitpid(pid, nullptr, 0);
    }
    ~Broker() {
        end(SIGTERM);
        if (std::system(("rm -rf " + dir).c_str()) != 0) {
            std::perror("rm");
        }
    }
    flux_t* connect() const {
        for (int tries = 0; tries < 500; ++tries) {
            if (flux_t* h = ::access((dir + "/local-0").c_str(), F_OK) == 0 ? flux_open(uri().c_str(), 0) : nullptr) {
                return h;
            }
            if (::waitpid(pid, nullptr, WNOHANG) == pid) {
                throw std::runtime_error("the broker ended");
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        throw std::runtime_error("no broker");
    }
    long rss_kb() const {
        std::ifstream status("/proc/" + std::to_string(pid) + "/status");
        for (std::string line; std::getline(status, line);) {
            if (line.starts_with("VmRSS:")) {
                return std::atol(line.c_str() + 6);
            }
        }
        return -1;
    }
    void print_threads() const {
        const std::string tasks = "/proc/" + std::to_string(pid) + "/task";
        DIR* list = ::opendir(tasks.c_str());
        while (dirent* entry = list ? ::readdir(list) : nullptr) {
            std::ifstream stat(tasks + "/" + entry->d_name + "/stat");
            std::string line;
            if (entry->d_name[0] == '.' || !std::getline(stat, line)) {
                continue;
            }
            const std::size_t open = line.find('('), close = line.rfind(')');
            long user = 0, system = 0;
            std::sscanf(line.c_str() + close + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld", &user,
                        &system);
            std::printf("  thread %-16s user %.2f s  system %.2f s\n", line.substr(open + 1, close - open - 1).c_str(),
                        static_cast<double>(user) / 100, static_cast<double>(system) / 100);
        }
        if (list) {
            ::closedir(list);
        }
    }
};

/// The payload of job-ingest.submit for a jobspec, unsigned, of the user who runs this.
inline std::string submission(const std::string& jobspec) {
    return "{\"J\":\"" + sign_none(jobspec, ::geteuid()) + "\",\"urgency\":16,\"flags\":0}";
}

struct Run {
    flux_t* h;
    /// What to submit as the job of this number, from 0.
    std::function<std::string(int)> payload;
    int to_send, in_flight_max, outstanding_max;
    const std::atomic<int>& done;
    int sent = 0, in_flight = 0, failed = 0;
    flux_watcher_t* timer = nullptr;

    /// At most so many requests unanswered, and so many jobs in the instance.
    void fill() {
        for (; in_flight < in_flight_max && to_send > 0 && sent - done < outstanding_max; ++in_flight, --to_send) {
            const std::string text = payload(sent++);
            flux_future_t* f = flux_rpc(h, "job-ingest.submit", text.c_str(), FLUX_NODEID_ANY, 0);
            flux_future_then(f, -1., answered, this);
        }
    }
    static void answered(flux_future_t* f, void* arg) {
        Run& run = *static_cast<Run*>(arg);
        if (flux_rpc_get(f, nullptr) < 0 && run.failed++ == 0) {
            std::fprintf(stderr, "submit: %s\n", flux_future_error_string(f));
        }
        flux_future_destroy(f);
        --run.in_flight;
        run.go_on();
    }
    void go_on() {
        fill();
        if (in_flight == 0 && to_send == 0) {
            flux_reactor_stop(flux_get_reactor(h));
        }
    }
    void run() {
        timer = flux_timer_watcher_create(
            flux_get_reactor(h), 0.005, 0.005,
            [](flux_reactor_t*, flux_watcher_t*, int, void* arg) { static_cast<Run*>(arg)->go_on(); }, this);
        flux_watcher_start(timer);
        fill();
        flux_reactor_run(flux_get_reactor(h), 0);
        flux_watcher_destroy(timer);
    }
};

}  // namespace weir::bench
