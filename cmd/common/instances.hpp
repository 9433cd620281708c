// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the state of an instance and of the child instances below it, from the payloads of job-route, job-list, module.
// Must not draw.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cmd/common/client.hpp"

namespace weir::cmd {

/// Cores of an R document; 0 for null (nothing allocated) and for what is no R.
std::int64_t cores_of_r(json_t* document);

struct JobCounts {
    std::int64_t pending = 0, running = 0, inactive = 0, failed = 0, canceled = 0;
    /// The jobs that ended for good in a child. A copy that the parent took back is a canceled job there, and a job
    /// that somebody cancels cannot be told from it: neither is counted.
    std::int64_t ended_in_child() const { return inactive > canceled ? inactive - canceled : 0; }
};
JobCounts job_counts(Client& client);

/// A job that is an instance of a partition.
struct PartitionJob {
    std::uint64_t job = 0;   ///< 0: it is being submitted
    bool is_current = true;  ///< false: it ends after its jobs
    bool is_attached = false;
    std::string uri, rundir;
    std::int64_t cores = 0, pending = 0, running = 0, own = 0;
    std::string drained;  ///< its nodes that are drained in the instance that keeps it: "node[0-1]"
};
/// `serves` and `uri` are what the child says: its user may have made them up.
struct ChildEntry {
    std::uint64_t jobid = 0;
    std::uint32_t userid = FLUX_USERID_UNKNOWN;  ///< of its job
    bool is_of_owner = false;                    ///< its user is the one whom the instance belongs to
    std::vector<std::string> serves;
    std::string uri, state;
    std::string partition;  ///< as configured; empty: it is none
    /// The partition, else, of the owner's, the queues that it serves: "batch and debug". Empty: it has only its job's
    /// id; a guest's child could take the name of a partition.
    std::string name;
    double lost_since = 0;  ///< seconds since the epoch; 0: it is attached
    bool is_drained = false;
    std::optional<PartitionJob> told;  ///< of an instance of a partition, what its parent tells everybody
    std::string scheduler;             ///< with `told`; empty: Flux's own
};
/// Why there is no more of an instance that refuses this user than `ChildEntry::told`.
inline constexpr const char* told_problem = "only its owner may look into it";
/// Whether this user may trust it: the owner's, which serve everybody, and his own. Another's could answer what it
/// likes, as slowly as it likes, and its URI could be that of an instance above it.
bool may_open(const ChildEntry& child);
/// Errors: EPERM if it is not to be opened (may_open()), or refuses this user; others of Client::open().
Result<Client> open_child(const ChildEntry& child, double answer_s = child_answer_s);
/// The name of a child instance in output: ChildEntry::name, else its job id at its parent.
std::string instance_name(const std::string& name, std::uint64_t jobid);
inline constexpr const char* top_instance_name = "top";
/// The children that job-route knows; empty if the module is not loaded.
std::vector<ChildEntry> children_of(Client& client);

/// instance_name() of each child.
std::map<std::uint64_t, std::string> partition_names(Client& client);

/// Jobs that are partitions: the owner's children of job-route, and his jobs whose jobspec says so and that are not
/// attached (yet or any more). Other users' jobs run in them. A guest's instance is his own job. For the owner also his
/// jobs in instance_queue, which are all where job-route is not loaded. Errors: job-route or job-list fails.
Result<std::set<std::uint64_t>> partition_jobs(Client& client);

/// A partition that the instance keeps ([[partition]]), as job-route reports it.
struct PartitionState {
    std::string name;
    std::string state;       ///< "up", "down", "starting", "off", "drained", "ending"
    std::int64_t place = 0;  ///< in the configuration
    std::vector<std::string> queues, overflow;
    std::string rules;                ///< which jobs it takes, in words; empty: all
    std::string takes;                ///< the same as a JSON object
    std::string limits, limits_text;  ///< of what runs in it, as a JSON object and in words; the words empty: none
    std::string scheduler, start;
    std::int64_t nodes = 0, cores = 0, memory_per_node_mib = 0;
    bool is_down = false;     ///< it died, and has not served since
    bool is_changed = false;  ///< `weir partition` added or resized it
    double since = 0;         ///< Unix seconds of this machine: when it came up or went down
    int deaths = 0;           ///< in a row
    std::string why;          ///< of the last end
    double next = 0;          ///< Unix seconds: when it is to start again
    std::uint64_t job = 0;    ///< its instance's job; 0: none
    std::string log;          ///< file
    std::vector<PartitionJob> jobs;
};
/// In the order of the configuration. Errors: job-route does not say, such as where it is not loaded.
Result<std::vector<PartitionState>> partition_states(Client& client);
/// The same; none where job-route does not say.
std::vector<PartitionState> told_partition_states(Client& client);
/// Gives the children that are instances of these partitions what is told of them.
void add_told(std::vector<ChildEntry>& children, const std::vector<PartitionState>& states);
/// "down since 2026-11-21 09:31:05, 6 deaths in a row, the last: killed by signal 9; next try in 4s". `now` as above.
std::string down_text(const PartitionState& state, double now);
/// The same of one that is down now, else "off; it starts when a job waits for it", "starting as f2X".
std::string absent_text(const PartitionState& state);

/// The policy in force of an instance: `in_force` in job-priority.weights.
struct PolicyState {
    std::string settings;   ///< equal settings have equal ones; empty: unknown
    std::int64_t tree = 0;  ///< revision of the share tree, as counted by the topmost instance
    std::string from;       ///< "own" or "parent"
    std::string refused;    ///< why the parent's newest policy is refused
    std::uint64_t jobid = 0;
};
PolicyState policy_state(const json_t* in_force);
/// The policies of the children of that instance, as they reported them.
std::vector<PolicyState> policies_below(const json_t* in_force);
/// "3/1a2b3c4d", with "own" or "refused" behind it where a child does not follow its parent.
std::string policy_text(const PolicyState& policy, bool is_child);

/// Of jobs at the head of a queue that started after their start had been estimated.
struct EstimateErrors {
    std::int64_t count = 0;
    double total_s = 0;  ///< from the first estimate to the start, early or late
};

struct Instance {
    std::string uri;
    std::string version;
    int level = 0;
    std::uint64_t jobid = 0;          ///< at its parent; 0 for the top
    std::string partition;            ///< as ChildEntry::partition
    std::string name;                 ///< as ChildEntry::name
    std::vector<std::string> serves;  ///< queues of the parent that it serves
    std::vector<std::string> modules;
    std::int64_t cores = 0;
    std::optional<std::int64_t> cores_busy;  ///< absent: not known
    JobCounts jobs;
    std::optional<EstimateErrors> estimates;  ///< of its own scheduler; Flux's has none
    double lost_since = 0;  ///< when its parent lost the link, in seconds since the epoch; 0: it is attached
    std::string problem;    ///< why the rest is missing: it did not answer
    bool is_told = false;   ///< it refuses this user: cores, waiting and running jobs and the scheduler are as its
                            ///< parent tells, and the rest is missing
    bool is_drained = false;
    std::optional<PartitionState> down;
    PolicyState policy;
    std::vector<Instance> children;
};
/// The instance and all instances below it. Children that do not answer, and those that are not asked (may_open()), are
/// listed with `problem`, the latter last.
Instance instance_tree(Client& client);

/// "fcfs", "backfill" or "simple" from the name of the scheduler module; empty when none is loaded.
std::string scheduler_of(const std::vector<std::string>& modules);

}  // namespace weir::cmd
