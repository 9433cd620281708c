// SPDX-License-Identifier: LGPL-3.0-only
// Owns: `weir output`: what a job wrote, as kept by job-exec, also of a job that a child instance ran.
#include "cmd/commands/answer.hpp"
#include "cmd/commands/commands.hpp"
#include "cmd/common/job_output.hpp"
#include "cmd/common/submission.hpp"

namespace weir::cmd {
namespace {

Exit run_output(Context& context) {
    return with_job(context, [&](Client& client, const Job& job) {
        if (context.args.has("wait")) {
            if (auto ending = wait_for_end(client, job.id); !ending) {
                return context.fail(ending.error());
            }
        }
        auto output = job_output(client, job.id);
        if (!output) {
            return context.fail(output.error());
        }
        if (context.json) {
            Json answer = Json::object();
            answer.set("id", job.id).set("job", job_name(job.id)).set("data", output->data);
            answer.set("complete", output->is_complete).set("path", output->path);
            context.print(json_text("weir.output/1", answer));
        } else {
            context.print(output->data);
        }
        return Exit::ok;
    });
}

}  // namespace

Command output_command() {
    Command command;
    command.name = "output";
    command.summary = "show the output of a job";
    command.examples = {"weir output ƒ7J4Ab  # standard output and error so far",
                        "weir output --wait ƒ7J4Ab  # the whole output, after the job's end",
                        "weir output ƒ7J4Ab --json  # as JSON, with the path of the file"};
    command.words = {"JOB", 1, 1};
    command.options = {{"wait", 'w', "", "wait until the job has ended", Kind::flag}};
    command.run = run_output;
    return command;
}

}  // namespace weir::cmd
