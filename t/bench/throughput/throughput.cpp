// SPDX-License-Identifier: LGPL-3.0-only
// Owns: one measurement: N jobs of zero simulated length through a whole embedded instance on an imagined machine of 64
//   cores, from submit to inactive. Prints jobs a second, messages and memory over time, CPU a thread.
// Must not know: anything of the broker but its command line and the wire protocol.
// Usage: weir_throughput BROKER JOBS [OUTSTANDING] [journal|-] [priority|-] [EXTRA_CONFIG]   (EXTRA_CONFIG: TOML)
#include <dirent.h>
#include <flux/core.h>
#include <jansson.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

constexpr int in_flight_max = 256;
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
    std::string dir;
    pid_t pid = -1;
    std::string uri() const { return "local://" + dir + "/local-0"; }

    explicit Broker(const Plan& plan) {
        char name[] = "/tmp/weir-throughput-XXXXXX";
        dir = ::mkdtemp(name);
        std::ofstream(dir + "/broker.toml")
            << "[weir-broker]\nmodules = [\"kvs\", \"resource\", \"job-manager\", \"job-exec\", \"sched-fcfs\""
            << (plan.with_priority ? ", \"job-priority\"" : "") << "]\n"
            << (plan.with_priority ? "[job-manager]\nplugins = [{ load = \"job-priority-tap.so\" }]\n" : "")
            << "[[resource.config]]\nhosts = \"node[0-3]\"\ncores = \"0-15\"\n"
            << plan.extra << "\n";
        pid = ::fork();
        if (pid == 0) {
            const std::string state = plan.with_journal ? "statedir=" + dir : "broker.module-nopanic=0";
            ::execl(plan.program, plan.program, "-c", (dir + "/broker.toml").c_str(), "--rundir", dir.c_str(), "-S",
                    state.c_str(), nullptr);
            std::perror(plan.program);
            ::_exit(127);
        }
    }
    ~Broker() {
        ::kill(pid, SIGTERM);
        ::waitpid(pid, nullptr, 0);
        if (std::system(("rm -rf " + dir).c_str()) != 0)
            std::perror("rm");
    }
    flux_t* connect() const {
        for (int tries = 0; tries < 500; ++tries) {
            if (flux_t* h = ::access((dir + "/local-0").c_str(), F_OK) == 0 ? flux_open(uri().c_str(), 0) : nullptr)
                return h;
            if (::waitpid(pid, nullptr, WNOHANG) == pid)
                throw std::runtime_error("the broker ended");
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        throw std::runtime_error("no broker");
    }
    long rss_kb() const {
        std::ifstream status("/proc/" + std::to_string(pid) + "/status");
        for (std::string line; std::getline(status, line);)
            if (line.starts_with("VmRSS:"))
                return std::atol(line.c_str() + 6);
        return -1;
    }
    void print_threads() const {
        const std::string tasks = "/proc/" + std::to_string(pid) + "/task";
        DIR* list = ::opendir(tasks.c_str());
        while (dirent* entry = list ? ::readdir(list) : nullptr) {
            std::ifstream stat(tasks + "/" + entry->d_name + "/stat");
            std::string line;
            if (entry->d_name[0] == '.' || !std::getline(stat, line))
                continue;
            const std::size_t open = line.find('('), close = line.rfind(')');
            long user = 0, system = 0;
            std::sscanf(line.c_str() + close + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld", &user,
                        &system);
            std::printf("  thread %-16s user %.2f s  system %.2f s\n", line.substr(open + 1, close - open - 1).c_str(),
                        static_cast<double>(user) / 100, static_cast<double>(system) / 100);
        }
        if (list)
            ::closedir(list);
    }
};

std::string encode64(const std::string& bytes) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        unsigned bits = 0;
        for (std::size_t k = 0; k < 3; ++k)
            bits = bits << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
        for (std::size_t k = 0; k < 4; ++k)
            out += i + k <= bytes.size() ? digits[bits >> (18 - 6 * k) & 63] : '=';
    }
    return out;
}

std::string submission() {
    std::string header("version\0i1\0userid\0i", 19);
    header += std::to_string(::geteuid());
    header += std::string("\0mechanism\0snone\0", 17);
    const std::string jobspec =
        R"({"resources":[{"type":"slot","count":1,"label":"task","with":[{"type":"core","count":1}]}],)"
        R"("tasks":[{"command":["true"],"slot":"task","count":{"per_slot":1}}],)"
        R"("attributes":{"system":{"duration":60,"exec":{"test":{"run_duration":0}}}},"version":1})";
    return "{\"J\":\"" + encode64(header) + "." + encode64(jobspec) + ".none\",\"urgency\":16,\"flags\":0}";
}

struct Run {
    flux_t* h;
    std::string payload;
    int to_send, in_flight_max, outstanding_max;
    const std::atomic<int>& done;
    int sent = 0, in_flight = 0, failed = 0;
    flux_watcher_t* timer = nullptr;

    /// At most so many requests unanswered, and so many jobs in the instance.
    void fill() {
        for (; in_flight < in_flight_max && to_send > 0 && sent - done < outstanding_max; ++in_flight, --to_send) {
            ++sent;
            flux_future_t* f = flux_rpc(h, "job-ingest.submit", payload.c_str(), FLUX_NODEID_ANY, 0);
            flux_future_then(f, -1., answered, this);
        }
    }
    static void answered(flux_future_t* f, void* arg) {
        Run& run = *static_cast<Run*>(arg);
        if (flux_rpc_get(f, nullptr) < 0 && run.failed++ == 0)
            std::fprintf(stderr, "submit: %s\n", flux_future_error_string(f));
        flux_future_destroy(f);
        --run.in_flight;
        run.go_on();
    }
    void go_on() {
        fill();
        if (in_flight == 0 && to_send == 0)
            flux_reactor_stop(flux_get_reactor(h));
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

int done_jobs(flux_t* h) {
    flux_future_t* f = flux_rpc(h, "job-list.job-stats", nullptr, FLUX_NODEID_ANY, 0);
    int inactive = 0, purged = 0;
    if (flux_rpc_get_unpack(f, "{s:{s:i} s:i}", "job_states", "inactive", &inactive, "inactive_purged", &purged) < 0)
        throw std::runtime_error(flux_future_error_string(f));
    flux_future_destroy(f);
    return inactive + purged;
}

/// Messages through the router, per job: the figure that does not depend on the machine.
void print_messages(flux_t* h, int jobs) {
    flux_future_t* f = flux_rpc(h, "broker.stats-get", nullptr, FLUX_NODEID_ANY, 0);
    json_int_t requests = 0, responses = 0, events = 0;
    if (flux_rpc_get_unpack(f, "{s:I s:I s:I}", "requests", &requests, "responses", &responses, "events", &events) < 0)
        throw std::runtime_error(std::string("broker.stats-get: ") + flux_strerror(errno));
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
        Run run{submitter, submission(), jobs, in_flight_max, plan.outstanding, done};
        run.run();
        submitted = seconds();
        if (run.failed > 0)
            std::fprintf(stderr, "%d submissions failed\n", run.failed);
    });
    for (double next = 0; done < jobs; std::this_thread::sleep_for(std::chrono::milliseconds(20))) {
        done = done_jobs(observer);
        if (seconds() < next && done < jobs)
            continue;
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
        if (argc > 3)
            plan.outstanding = std::atoi(argv[3]);
        plan.with_journal = argc > 4 && std::string(argv[4]) == "journal";
        plan.with_priority = argc > 5 && std::string(argv[5]) == "priority";
        plan.extra = argc > 6 ? argv[6] : "";
        return measure(plan);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
        return 1;
    }
}
