// SPDX-License-Identifier: LGPL-3.0-only
// Owns: why a job waits, for every state in which a job can wait: who is asked, and what of the answers holds it up, in
// the form of sched.why's answer. Must not print.
#pragma once
#include <optional>
#include <string>

#include "cmd/common/instances.hpp"
#include "cmd/common/jobs.hpp"

namespace weir::cmd {

/// What others say of a waiting job; what nobody says is empty.
struct WaitFacts {
    Json scheduler;                        ///< sched.why's answer
    bool is_foreign_scheduler = false;     ///< nobody here answers sched.why
    Json queue;                            ///< job-manager.queue-status of its queue
    Json priority;                         ///< job-priority.explain's answer
    Json route;                            ///< job-route.locate's answer
    std::string served_by;                 ///< where its queue is served, when that is a child instance: its URI
    std::optional<ChildEntry> lost_child;  ///< one that serves its queue and has no link to its parent
};
/// Asks for what the job's state makes of interest.
WaitFacts ask_wait_facts(Client& client, const Job& job);

/// {reason, text, ...}; `text` goes on after "It". Reasons: arriving, dependencies, begin-time, priority, held, limit,
/// queue-stopped, no-scheduler, routed, child-lost, foreign-scheduler, those of sched.why; not-waiting.
Json wait_reason(const Job& job, const WaitFacts& facts);
/// In sentences that end with a line feed, with job names and local times. `subject`: "It", "ƒ7J4Ab".
std::string wait_text(const std::string& subject, const json_t* reason, bool unicode);

}  // namespace weir::cmd
