// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the generated workload and the estimate of its length.
#include "cmd/demo/workload.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "libsched/sim/lublin.hpp"
#include "libsched/sim/prng.hpp"
#include "libsched/sim/simulate.hpp"

namespace weir::cmd {
namespace {

constexpr const char* share_tree_text =
    R"(# The demo's share tree: a line a node, users with an at sign. Try: weir share apply --dry-run shares.toml
"physics"                = 50    # half of the machine
"physics/lattice"        = 3
"physics/lattice/@alice" = 2
"physics/lattice/@erin"  = 1
"physics/astro"          = 2
"physics/astro/@bob"     = 1
"chem"                   = 30
"chem/@carol"            = 1
"chem/@dave"             = 2
"bio"                    = 20
"bio/genome"             = 3
"bio/genome/@frank"      = 1
"bio/ecology"            = 2
"bio/ecology/@grace"     = 1
"bio/ecology/@heidi"     = 1
)";

/// Who asks for what part of all work: chem for far more than its 30 %, physics for less than its 50 %.
struct Demand {
    const char* user;
    const char* account;
    double part;
};
constexpr std::array<Demand, 8> demands{{{"alice", "physics/lattice", 0.16},
                                         {"erin", "physics/lattice", 0.12},
                                         {"bob", "physics/astro", 0.12},
                                         {"carol", "chem", 0.18},
                                         {"dave", "chem", 0.22},
                                         {"frank", "bio/genome", 0.10},
                                         {"grace", "bio/ecology", 0.06},
                                         {"heidi", "bio/ecology", 0.04}}};

constexpr std::int64_t debug_cores_max = 8;
constexpr Duration debug_limit = std::chrono::minutes(30);

/// Gives each job to a user at random, weighted by how much of their part they still lack: parts are met closely, in
/// every stretch of the log, and users' jobs come mixed.
std::vector<std::size_t> assigned(const std::vector<SwfJob>& jobs, std::uint64_t seed) {
    Prng prng(seed ^ 0x5765697244656d6fULL);
    std::array<double, demands.size()> given{};
    double all = 0;
    std::vector<std::size_t> owner;
    for (const SwfJob& job : jobs) {
        const double work = static_cast<double>(job.run) * static_cast<double>(job.processors);
        all += work;
        std::array<double, demands.size()> lack{};
        for (std::size_t u = 0; u < demands.size(); ++u) {
            const double missing = std::max(0.0, demands[u].part * all - given[u]);
            lack[u] = missing * missing;  // squared: the one who lacks most is likely next
        }
        double draw = prng.uniform() * std::accumulate(lack.begin(), lack.end(), 0.0);
        std::size_t chosen = 0;
        while (chosen + 1 < lack.size() && draw >= lack[chosen]) {
            draw -= lack[chosen++];
        }
        given[chosen] += work;
        owner.push_back(chosen);
    }
    return owner;
}

}  // namespace

Result<Workload> generated_workload(std::uint64_t seed, std::int64_t count) {
    LublinSettings settings;
    settings.seed = seed;
    settings.jobs = static_cast<std::uint64_t>(count);
    settings.cores = 64;
    settings.run_max = 4 * 3600;
    settings.load = 160.0 / 64 * 1.35;  // the load is for settings.cores; the machine has 160
    auto model = generate_lublin(settings);
    if (!model) {
        return model.error();
    }
    Workload workload;
    workload.name = "Lublin-Feitelson model, seed " + std::to_string(seed);
    workload.share_tree = share_tree_text;
    workload.nodes = 40;
    workload.cores_per_node = 4;
    workload.partitions = {{"debug", "sched-fcfs", 4, 4}, {"batch", "sched-backfill", 36, 4}};
    for (std::size_t u = 0; u < demands.size(); ++u) {
        workload.users[demands[u].user] = static_cast<std::uint32_t>(5001 + u);
    }
    const std::vector<std::size_t> owners = assigned(*model, seed);
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
        const Policy policy = partition.scheduler == "sched-fcfs" ? Policy(Fcfs{}) : Policy(Easy{});
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
