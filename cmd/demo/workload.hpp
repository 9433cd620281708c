// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the workload of the demo: a machine, a share tree, users and their jobs, generated or from a log.
// Must not know brokers or clocks. Sources: Lublin and Feitelson 2003; the Standard Workload Format.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cmd/instance/plan.hpp"
#include "libfairshare/base/result.hpp"
#include "libfairshare/base/time.hpp"
#include "libsched/sim/swf.hpp"

namespace weir::cmd {

struct DemoJob {
    std::string user, account, queue;
    std::int64_t cores = 1;
    Duration submit{};     ///< after the first job's
    Duration run{};        ///< actual
    Duration requested{};  ///< at least `run`
};

struct Workload {
    std::string name;        ///< for people
    std::string share_tree;  ///< text of shares.toml
    std::map<std::string, std::uint32_t> users;
    std::int64_t nodes = 1, cores_per_node = 1;
    std::vector<Partition> partitions;
    std::vector<DemoJob> jobs;   ///< in order of submission
    std::uint64_t left_out = 0;  ///< lines of a log that could not be replayed
};

/// 40 nodes of 4 cores, three accounts in five, eight users, `jobs` jobs by the model. The accounts request other parts
/// of the machine than their entitlements, together almost one and a half times the machine. The same seed gives the
/// same jobs.
Result<Workload> generated_workload(std::uint64_t seed, std::int64_t jobs);

/// The first `jobs` jobs of a log that ran: groups as accounts (equal shares), users as users; the batch partition is
/// the log's machine, debug a tenth on top for jobs of at most 15 requested minutes. `source` names the log for people.
/// Errors: no jobs, no machine size and no jobs to guess it from.
Result<Workload> workload_of_log(const std::vector<SwfJob>& log, std::int64_t processors, const std::string& source,
                                 std::int64_t jobs);
/// Reads as many lines as needed. Errors: "FILE:LINE: what".
Result<Workload> trace_workload(const std::string& path, std::int64_t jobs);

/// The end of the last job if nothing but the jobs took time, from a replay with the production policies, partition by
/// partition. After the first submit. Errors: a job larger than its partition.
Result<Duration> makespan(const Workload& workload);

}  // namespace weir::cmd
