// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what a deep queue costs an embedded instance with job-priority and a journal: resident bytes a waiting job, the
//   time of a list of all jobs, and the time from a kill -9 until every job waits again. Fails when a waiting job takes
//   more bytes than allowed; times are for the record.
// Must not know: anything of the broker but its command line and the wire protocol.
// Usage: deep_queue BROKER JOBS BYTES_MAX
#include <cstring>

#include "t/bench/throughput/instance.hpp"

namespace {

using namespace weir::bench;
using std::chrono::duration;

/// Jobs as people submit them: own names and lengths, a folder, one environment for all of a shell's jobs.
std::string jobspec(int number) {
    const std::string n = std::to_string(number);
    std::string environment;
    for (int i = 0; i < 24; ++i) {
        environment += std::string(i == 0 ? "" : ",") + "\"VARIABLE_" + std::to_string(i) +
                       "\":\"/opt/site/software/toolchain/" + std::to_string(i) + "/bin\"";
    }
    return R"({"resources":[{"type":"slot","count":1,"label":"task","with":[{"type":"core","count":)" +
           std::to_string(1 + number % 4) + R"(}]}],"tasks":[{"command":["/home/alice/study/run.sh","--case",")" + n +
           R"("],"slot":"task","count":{"per_slot":1}}],"attributes":{"system":{"duration":)" +
           std::to_string(600 + number % 977) + R"(,"cwd":"/home/alice/study/case-)" + n + R"(","job":{"name":"case-)" +
           n + R"("},"environment":{)" + environment + R"(},"exec":{"test":{"run_duration":"1h"}}}},"version":1})";
}

/// Jobs in PRIORITY or before, and in SCHED or RUN.
struct Counts {
    int early = 0, settled = 0;
};

Counts counts(flux_t* h) {
    flux_future_t* f = flux_rpc(h, "job-list.job-stats", nullptr, FLUX_NODEID_ANY, 0);
    int depend = 0, priority = 0, sched = 0, run = 0;
    if (flux_rpc_get_unpack(f, "{s:{s:i s:i s:i s:i}}", "job_states", "depend", &depend, "priority", &priority, "sched",
                            &sched, "run", &run) < 0) {
        throw std::runtime_error(std::string("job-list.job-stats: ") + flux_future_error_string(f));
    }
    flux_future_destroy(f);
    return {depend + priority, sched + run};
}

void settle(flux_t* h, int jobs) {
    while (counts(h).settled < jobs) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
}

double seconds_since(Clock::time_point begin) {
    return duration<double>(Clock::now() - begin).count();
}

/// Asks as `weir jobs -c0` does. Returns the number of jobs.
int list_all(flux_t* h) {
    flux_future_t* f = flux_rpc(h, "job-list.list",
                                R"({"max_entries":0,"attrs":["userid","urgency","priority","t_submit","state","name",)"
                                R"("queue","bank","ncores","duration"],"since":0,"constraint":{"states":["pending"]}})",
                                FLUX_NODEID_ANY, FLUX_RPC_STREAMING);
    int jobs = 0;
    const char* text = nullptr;
    for (; flux_rpc_get(f, &text) == 0; flux_future_reset(f)) {
        for (const char* at = std::strstr(text, "\"id\":"); at; at = std::strstr(at + 1, "\"id\":")) {
            ++jobs;
        }
    }
    flux_future_destroy(f);
    return jobs;
}

int measure(const char* program, int jobs, long bytes_max) {
    Broker broker(Plan{program, jobs, jobs, true, true});
    flux_t* h = broker.connect();
    const long before = broker.rss_kb();
    const std::atomic<int> done = 0;
    Run run{h, [](int n) { return submission(jobspec(n)); }, jobs, in_flight_max, jobs, done};
    auto begin = Clock::now();
    run.run();
    settle(h, jobs);
    const long bytes = (broker.rss_kb() - before) * 1024 / jobs;
    std::printf("jobs %d  submitted and waiting after %.2f s  %ld bytes a job (at most %ld)\n", jobs,
                seconds_since(begin), bytes, bytes_max);
    begin = Clock::now();
    const int listed = list_all(h);
    std::printf("  listed %d waiting jobs in %.2f s\n", listed, seconds_since(begin));
    broker.print_threads();
    flux_close(h);
    broker.end(SIGKILL);
    ::unlink((broker.dir + "/local-0").c_str());
    begin = Clock::now();
    broker.start();
    h = broker.connect();
    const double answered = seconds_since(begin);
    settle(h, jobs);
    std::printf("  after kill -9: answers after %.2f s, all wait again after %.2f s, resident %ld MiB\n", answered,
                seconds_since(begin), broker.rss_kb() / 1024);
    broker.print_threads();
    flux_close(h);
    if (run.failed > 0 || bytes > bytes_max) {
        std::fprintf(stderr, "%d submissions failed; %ld bytes a waiting job, at most %ld are allowed\n", run.failed,
                     bytes, bytes_max);
        return 1;
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fprintf(stderr, "usage: %s BROKER JOBS BYTES_MAX\n", argv[0]);
        return 2;
    }
    try {
        return measure(argv[1], std::atoi(argv[2]), std::atol(argv[3]));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
        return 1;
    }
}
