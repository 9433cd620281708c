// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the generated workload and the estimate of its length.
#include "cmd/demo/workload.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "libsched/sim/lublin.hpp"
#include "libsched/sim/simulate.hpp"

namespace weir::cmd {
namespace {

constexpr const char* share_tree_text =
    R"(# The demo's share tree: a line a node, users with an at sign. Try: weir share apply --dry-run shares.toml
"physics"                = 50    # half of the machine
"physics/lattice"        = 3
"physics/lattice/@alice" = { shares = 2, running_jobs_max = 10 }
"physics/lattice/@erin"  = 1
"physics/astro"          = 2
"physics/astro/@bob"     = 1
"chem"                   = { shares = 30, cores_max = 80 }    # half of the machine, over both partitions
"chem/@carol"            = 1
"chem/@dave"             = 2
"bio"                    = 20
"bio/genome"             = 3
"bio/genome/@frank"      = 1
"bio/ecology"            = 2
"bio/ecology/@grace"     = 1
"bio/ecology/@heidi"     = 1
)";

/// The part of all work that each account requests: chem far more than its 30 %, physics less than its 50 %.
struct Demand {
    const char* user;
    const char* account;
    double part;
};
constexpr std::array<Demand, 8> demands{{{"alice", "physics/lattice", 0.15},
                                         {"erin", "physics/lattice", 0.10},
                                         {"bob", "physics/astro", 0.17},
                                         {"carol", "chem", 0.17},
                                         {"dave", "chem", 0.21},
                                         {"frank", "bio/genome", 0.10},
                                         {"grace", "bio/ecology", 0.06},
                                         {"heidi", "bio/ecology", 0.04}}};
/// Requested work over the capacity of the machine until the last submission. Above 1 queues form, and shares decide.
constexpr double offered_load = 1.45;

constexpr std::int64_t debug_cores_max = 8;
constexpr Duration debug_limit = std::chrono::minutes(30);

/// Stretch by stretch of the log, the largest job goes to the user who lacks most of their part: parts are met in every
/// stretch, and users' jobs come mixed. Ties: the user listed first.
std::vector<std::size_t> assigned(const std::vector<SwfJob>& jobs) {
    constexpr std::size_t stretch = 60;
    std::array<double, demands.size()> given{};
    double all = 0;
    std::vector<std::size_t> owner(jobs.size());
    for (std::size_t begin = 0; begin < jobs.size(); begin += stretch) {
        std::vector<std::size_t> order(std::min(stretch, jobs.size() - begin));
        std::iota(order.begin(), order.end(), begin);
        const auto work = [&](std::size_t i) { return static_cast<double>(jobs[i].run * jobs[i].processors); };
        std::sort(order.begin(), order.end(),
                  [&](std::size_t a, std::size_t b) { return std::pair(-work(a), a) < std::pair(-work(b), b); });
        for (const std::size_t i : order) {
            all += work(i);
        }
        for (const std::size_t i : order) {
            const auto lack = [&](std::size_t u) { return demands[u].part * all - given[u]; };
            std::size_t chosen = 0;
            for (std::size_t u = 1; u < demands.size(); ++u) {
                chosen = lack(u) > lack(chosen) ? u : chosen;
            }
            given[chosen] += work(i);
            owner[i] = chosen;
        }
    }
    return owner;
}

}  // namespace

Result<Workload> generated_workload(std::uint64_t seed, std::int64_t count) {
    LublinSettings settings;
    settings.seed = seed;
    settings.jobs = static_cast<std::uint64_t>(count);
    settings.cores = 32;
    settings.run_max = 3 * 3600;
    settings.load = 160.0 / settings.cores * offered_load;  // the load is for settings.cores; the machine has 160
    auto model = generate_lublin(settings);
    if (!model) {
        return model.error();
    }
    Workload workload;
    workload.name = "Lublin-Feitelson model, seed " + std::to_string(seed);
    workload.share_tree = share_tree_text;
    workload.nodes = 40;
    workload.cores_per_node = 4;
    workload.partitions = {{"debug", "sched-weir-fcfs", 8, 4, {"batch"}},
                           {"batch", "sched-weir-easy", 32, 4, {"debug"}}};
    for (std::size_t u = 0; u < demands.size(); ++u) {
        workload.users[demands[u].user] = static_cast<std::uint32_t>(5001 + u);
    }
    const std::vector<std::size_t> owners = assigned(*model);
    for (std::size_t i = 0; i < model->size(); ++i) {
        const SwfJob& line = (*model)[i];
        DemoJob job;
        job.user = demands[owners[i]].user;
        job.account = demands[owners[i]].account;
        job.cores = line.processors;
        job.submit = std::chrono::seconds(line.submit - model->front().submit);
        job.run = std::chrono::seconds(line.run);
        job.requested = std::chrono::seconds(std::max(line.requested_time, line.run));
        job.queue = job.cores <= debug_cores_max && job.requested <= debug_limit ? "debug" : "batch";
        workload.jobs.push_back(std::move(job));
    }
    return workload;
}

Result<Duration> makespan(const Workload& workload) {
    Duration last{};
    for (const Partition& partition : workload.partitions) {
        std::vector<SimJob> jobs;
        for (const DemoJob& job : workload.jobs) {
            if (job.queue == partition.name) {
                SimJob sim;
                sim.number = static_cast<std::int64_t>(jobs.size()) + 1;
                sim.submit = Instant{job.submit};
                sim.run = job.run;
                sim.limit = job.requested;
                sim.cores = static_cast<std::uint32_t>(job.cores);
                jobs.push_back(sim);
            }
        }
        const Policy policy = partition.scheduler == "sched-weir-fcfs" ? Policy(Fcfs{}) : Policy(Easy{});
        const auto starts = simulate(jobs, partition.cores(), policy);
        if (!starts) {
            return Error{starts.error().code, partition.name + ": " + starts.error().message};
        }
        for (std::size_t i = 0; i < jobs.size(); ++i) {
            last = std::max(last, (*starts)[i].time_since_epoch() + jobs[i].run);
        }
    }
    return last;
}

}  // namespace weir::cmd
