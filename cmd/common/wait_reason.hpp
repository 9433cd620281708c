// SPDX-License-Identifier: LGPL-3.0-only
// Owns: why a job waits, in every state before it starts: the requests to the modules, and the one answer that is the
// reason, in the form of sched.why's answer. Must not print.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "cmd/common/instances.hpp"
#include "cmd/common/jobs.hpp"
#include "cmd/common/routed.hpp"

namespace weir::cmd {

struct WaitBelow;

/// The modules' answers about a waiting job; empty without an answer.
struct WaitFacts {
    Json scheduler;                          ///< sched.why's answer
    bool is_foreign_scheduler = false;       ///< no module answers sched.why
    Json queue;                              ///< job-manager.queue-status of its queue
    Json priority;                           ///< job-priority.explain's answer
    Json route;                              ///< job-route.locate's answer; empty: the job is not routed
    bool is_kept_for_route = false;          ///< it is to run in a partition, and no module answers job-route.locate
    std::vector<Hop> hops;                   ///< the way to the instance that has the job; none: it is this one
    std::optional<Error> unanswered;         ///< why that instance does not answer
    std::shared_ptr<const WaitBelow> below;  ///< its answers
};
/// The job in the instance below that has it.
struct WaitBelow {
    Job job;
    WaitFacts facts;
};
/// Sends requests to the modules that matter in the job's state.
WaitFacts ask_wait_facts(Client& client, const Job& job);

/// {reason, text, ...}; `text` continues a sentence that begins with "It". Reasons: arriving, dependencies, begin-time,
/// priority, held, limit, queue-stopped, no-scheduler, routed, no-job-route, no-partition, child-lost,
/// foreign-scheduler, those of sched.why; not-taken, partition-limit, partition-away, partition-room; not-waiting. Of a
/// job in a partition, the partition's reason with {partition, child, child_id}, and with an estimate also
/// may_start_in: [name], the other partitions in which it may start earlier. Of a routed job also not_taken: [{name,
/// rules, rule, job}], the partitions of its queue that do not take it, and limited: [{name, limit}], those that do not
/// take it now.
Json wait_reason(const Job& job, const WaitFacts& facts);
struct StartWait {
    /// "waits for 6 cores; free: 2", or "has not attached yet" where the instance runs.
    std::string text;
    bool is_for_nodes = false;  ///< that are drained or down, or for a job before it
};
/// Why a partition that is starting is not up. Empty in any other state, and where its job is not known.
StartWait start_wait(Client& client, const PartitionState& state);
/// Sentences, each ending with a line feed, with job names and local times. `subject`: "It", "ƒ7J4Ab".
std::string wait_text(const std::string& subject, const json_t* reason, bool unicode);

}  // namespace weir::cmd
