// SPDX-License-Identifier: LGPL-3.0-only
// Owns: why a job waits, in every state in which a job can wait: which modules are asked, and which of their answers is
// the reason, in the form of sched.why's answer. Must not print.
#pragma once
#include <optional>
#include <string>

#include "cmd/common/instances.hpp"
#include "cmd/common/jobs.hpp"

namespace weir::cmd {

/// The modules' answers about a waiting job; empty without an answer.
struct WaitFacts {
    Json scheduler;                        ///< sched.why's answer
    bool is_foreign_scheduler = false;     ///< no module answers sched.why
    Json queue;                            ///< job-manager.queue-status of its queue
    Json priority;                         ///< job-priority.explain's answer
    Json route;                            ///< job-route.locate's answer
    std::string served_by;                 ///< the URI of the child instance that serves its queue, if there is one
    std::optional<ChildEntry> lost_child;  ///< a child that serves its queue and has no link to its parent
};
/// Asks the modules that matter in the job's state.
WaitFacts ask_wait_facts(Client& client, const Job& job);

/// {reason, text, ...}; `text` continues a sentence that begins with "It". Reasons: arriving, dependencies, begin-time,
/// priority, held, limit, queue-stopped, no-scheduler, routed, child-lost, foreign-scheduler, those of sched.why;
/// not-waiting.
Json wait_reason(const Job& job, const WaitFacts& facts);
/// Sentences, each ending with a line feed, with job names and local times. `subject`: "It", "ƒ7J4Ab".
std::string wait_text(const std::string& subject, const json_t* reason, bool unicode);

}  // namespace weir::cmd
