// SPDX-License-Identifier: LGPL-3.0-only
// Owns: one measurement: N jobs of zero simulated length through a whole embedded instance on an imagined machine of 64
//   cores, from submit to inactive. Prints jobs a second, messages and memory over time, CPU a thread.
// Must not know: anything of the broker but its command line and the wire protocol.
// Usage: weir_throughput BROKER JOBS [OUTSTANDING] [journal|-] [priority|-] [EXTRA_CONFIG]   (EXTRA_CONFIG: TOML)
#include <jansson.h>

#include "t/bench/throughput/instance.hpp"

namespace {

using namespace weir::bench;

/// One core, no length.
std::string empty_job() {
    return submission(R"({"resources":[{"type":"slot","count":1,"label":"task","with":[{"type":"core","count":1}]}],)"
                      R"("tasks":[{"command":["true"],"slot":"task","count":{"per_slot":1}}],)"
                      R"("attributes":{"system":{"duration":60,"exec":{"test":{"run_duration":0}}}},"version":1})");
}

int done_jobs(flux_t* h) {
    flux_future_t* f = flux_rpc(h, "job-list.job-stats", nullptr, FLUX_NODEID_ANY, 0);
    int inactive = 0, purged = 0;
    if (flux_rpc_get_unpack(f, "{s:{s:i} s:i}", "job_states", "inactive", &inactive, "inactive_purged", &purged) < 0) {
        throw std::runtime_error(flux_future_error_string(f));
    }
    flux_future_destroy(f);
    return inactive + purged;
}

/// Messages through the router, per job: the figure that does not depend on the machine.
void print_messages(flux_t* h, int jobs) {
    flux_future_t* f = flux_rpc(h, "broker.stats-get", nullptr, FLUX_NODEID_ANY, 0);
    json_int_t requests = 0, responses = 0, events = 0;
    if (flux_rpc_get_unpack(f, "{s:I s:I s:I}", "requests", &requests, "responses", &responses, "events", &events) <
        0) {
        throw std::runtime_error(std::string("broker.stats-get: ") + flux_strerror(errno));
    }
    flux_future_destroy(f);
    const auto per_job = [jobs](json_int_t n) { return static_cast<double>(n) / jobs; };
    std::printf("  messages a job through the router: requests %.2f  responses %.2f  events %.2f\n", per_job(requests),
                per_job(responses), per_job(events));
}

int measure(const Plan& plan) {
    const int jobs = plan.jobs;
    Broker broker(plan);
    flux_t* submitter = broker.connect();
    flux_t* observer = broker.connect();
    const long rss_before = broker.rss_kb();
    const auto begin = Clock::now();
    const auto seconds = [begin] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
    double submitted = 0;
    std::atomic<int> done = 0;
    std::thread sender([&] {
        Run run{submitter, [text = empty_job()](int) { return text; }, jobs, in_flight_max, plan.outstanding, done};
        run.run();
        submitted = seconds();
        if (run.failed > 0) {
            std::fprintf(stderr, "%d submissions failed\n", run.failed);
        }
    });
    for (double next = 0; done < jobs; std::this_thread::sleep_for(std::chrono::milliseconds(20))) {
        done = done_jobs(observer);
        if (seconds() < next && done < jobs) {
            continue;
        }
        std::printf("  t %6.1f s  done %7d  rss %ld MiB\n", seconds(), done.load(), broker.rss_kb() / 1024);
        std::fflush(stdout);
        next = seconds() + 2;
    }
    const double total = seconds();
    sender.join();
    std::printf(
        "jobs %d  outstanding %d  journal %s  job-priority %s  submitted in %.2f s  all inactive in %.2f s  %.0f "
        "jobs/s  rss %ld "
        "-> %ld MiB\n",
        jobs, plan.outstanding, plan.with_journal ? "yes" : "no", plan.with_priority ? "yes" : "no", submitted, total,
        jobs / total, rss_before / 1024, broker.rss_kb() / 1024);
    broker.print_threads();
    print_messages(observer, jobs);
    flux_close(submitter);
    flux_close(observer);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        std::fprintf(stderr, "usage: %s BROKER JOBS [OUTSTANDING] [journal|-] [priority|-] [EXTRA_CONFIG]\n", argv[0]);
        return 2;
    }
    try {
        Plan plan{argv[1], std::atoi(argv[2])};
        if (argc > 3) {
            plan.outstanding = std::atoi(argv[3]);
        }
        plan.with_journal = argc > 4 && std::string(argv[4]) == "journal";
        plan.with_priority = argc > 5 && std::string(argv[5]) == "priority";
        plan.extra = argc > 6 ? argv[6] : "";
        return measure(plan);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
        return 1;
    }
}
