// SPDX-License-Identifier: LGPL-3.0-only
// Owns: `weir why`: what a job waits for, and its estimated start.
#include "cmd/commands/answer.hpp"
#include "cmd/commands/commands.hpp"
#include "cmd/common/wait_reason.hpp"

namespace weir::cmd {
namespace {

Exit run_why(Context& context) {
    return with_job(context, [&](Client& client, const Job& job) {
        Json reason = wait_reason(job, ask_wait_facts(client, job));
        if (context.json) {
            context.print(json_text("weir.why/1", reason.set("id", job.id).set("state", state_text(job))));
            return Exit::ok;
        }
        const bool unicode = context.out.glyphs.unicode;
        context.print(wait_text(job_name(job.id, unicode), reason.get(), unicode));
        return Exit::ok;
    });
}

}  // namespace

Command why_command() {
    Command command;
    command.name = "why";
    command.summary = "what a job waits for, and its estimated start";
    command.examples = {"weir why ƒ7J4Ab  # dependencies, a limit, its queue, other jobs, resources",
                        "weir why ƒ7J4Ab --json  # for a program",
                        "weir prio explain ƒ7J4Ab  # how its priority is computed"};
    command.words = {"JOB", 1, 1};
    command.run = run_why;
    return command;
}

}  // namespace weir::cmd
