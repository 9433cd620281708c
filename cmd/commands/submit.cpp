// SPDX-License-Identifier: LGPL-3.0-only
// Owns: `weir submit`: a command line becomes a jobspec V1 (RFC 25), signed "none", handed to job-ingest.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "cmd/commands/answer.hpp"
#include "cmd/commands/commands.hpp"
#include "cmd/common/attributes.hpp"
#include "cmd/common/job_output.hpp"
#include "cmd/common/jobs.hpp"
#include "cmd/common/submission.hpp"
#include "libfairshare/base/memory_size.hpp"

namespace weir::cmd {
namespace {

/// Only the embedded broker has it.
constexpr const char* embedded_attribute = "config.files";

/// The environment without the variables of the instance to which this process talks.
std::map<std::string, std::string> environment() {
    std::map<std::string, std::string> variables;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const char* equals = std::strchr(*entry, '=');
        if (equals != nullptr && std::strncmp(*entry, "FLUX_", 5) != 0) {
            variables.emplace(std::string(*entry, static_cast<std::size_t>(equals - *entry)), equals + 1);
        }
    }
    return variables;
}

/// A stream of the job's tasks, which is a file (RFC 25, attributes.system.shell.options).
void set_file(Submission& submission, const std::string& stream, const std::string& path) {
    const Json quoted = Json::string(path);
    submission.attributes.push_back("shell.options." + stream + ".type=\"file\"");
    submission.attributes.push_back("shell.options." + stream + ".path=" + quoted.dump());
}

/// MiB; 0: none is requested.
Result<std::uint32_t> memory_of(const Args& args) {
    return args.has("memory-per-task") ? parse_mib(args.text("memory-per-task")) : Result<std::uint32_t>(0U);
}

/// REQUIRES: its amount of memory is valid.
Submission submission_of(const Args& args) {
    Submission submission;
    Jobspec& spec = submission.jobspec;
    spec.request.slots = static_cast<std::uint32_t>(args.integer("ntasks", 1));
    spec.request.cores_per_slot = static_cast<std::uint32_t>(args.integer("cores-per-task", 1));
    spec.request.memory_per_slot_mib = memory_of(args).value();
    if (args.has("nodes")) {
        spec.request.nodes = static_cast<std::uint32_t>(args.integer("nodes", 1));
        const std::uint32_t tasks = args.has("ntasks") ? spec.request.slots : spec.request.nodes;
        submission.tasks_total = tasks < spec.request.nodes ? tasks : 0;
        spec.request.slots = std::max<std::uint32_t>(1, tasks / spec.request.nodes);
    }
    spec.limit = args.duration("time-limit").value_or(Duration::max());
    spec.queue = args.text("queue");
    spec.account = args.text("account");
    spec.qos = args.text("qos");
    spec.command = args.words;
    spec.name = args.text("job-name", std::filesystem::path(args.words.front()).filename().string());
    std::error_code ignored;
    spec.cwd = std::filesystem::current_path(ignored).string();
    spec.environment = environment();
    spec.run_duration = args.duration("simulate");
    for (const auto& [option, stream] :
         {std::pair{"input", "input.stdin"}, {"output", "output.stdout"}, {"error", "output.stderr"}}) {
        if (args.has(option)) {
            set_file(submission, stream, args.text(option));
        }
    }
    if (const auto given = args.values.find("setattr"); given != args.values.end()) {
        submission.attributes.insert(submission.attributes.end(), given->second.begin(), given->second.end());
    }
    submission.urgency = static_cast<int>(16 - args.integer("nice", 0));
    return submission;
}

Exit wait_and_show(Context& context, Client& client, std::uint64_t id, bool is_simulated) {
    auto ending = wait_for_end(client, id);
    if (!ending) {
        return context.fail(ending.error());
    }
    if (!is_simulated) {
        const auto output = job_output(client, id);
        if (output) {
            if (context.json) {
                std::fwrite(output->data.data(), 1, output->data.size(), stderr);
            } else {
                context.print(output->data);
            }
        } else if (ending->status != -1) {
            context.note("weir: " + output.error().message);
        }
    }
    if (!ending->note.empty()) {
        context.note(job_name(id) + ": " + ending->note);
    }
    return ending->is_success() ? Exit::ok : Exit::failed;
}

Exit run_submit(Context& context) {
    const Args& args = context.args;
    const std::int64_t nodes = args.integer("nodes", 1), tasks = args.integer("ntasks", nodes);
    if (tasks > nodes && tasks % nodes != 0) {
        return context.fail(Exit::usage,
                            "--ntasks must be a multiple of --nodes, so that every node gets as many tasks, "
                            "or less than --nodes.");
    }
    if (const auto mib = memory_of(args); !mib) {
        return context.fail(Exit::usage, "--memory-per-task: " + mib.error().message + ".");
    }
    for (const std::string& word : submission_of(args).attributes) {
        const Json probe = Json::object();
        if (const Status done = set_attribute(probe.get(), word); !done) {
            return context.fail(Exit::usage, done.error().message);
        }
    }
    return with_instance(context, [&](Client& client) {
        Submission submission = submission_of(args);
        if (args.has("user")) {
            auto userid = Users::of(client).id(args.text("user"));
            if (!userid) {
                return context.fail(userid.error());
            }
            submission.userid = *userid;
        }
        if (submission.tasks_total > 0 && !client.attribute(embedded_attribute)) {
            return context.fail(Exit::usage,
                                "--ntasks is less than --nodes: a stock Flux runs a task on each node at least.");
        }
        auto id = submit(client, submission);
        if (!id) {
            return context.fail(id.error());
        }
        if (context.json) {
            Json answer = Json::object();
            answer.set("id", *id).set("job", job_name(*id));
            context.print(json_text("weir.submit/1", answer));
        } else if (args.has("wait")) {
            context.note(job_name(*id));
        } else {
            context.print(job_name(*id, context.out.glyphs.unicode) + "\n");
        }
        return args.has("wait") ? wait_and_show(context, client, *id, args.has("simulate")) : Exit::ok;
    });
}

}  // namespace

Command submit_command() {
    Command command;
    command.name = "submit";
    command.summary = "run a program as a job";
    command.examples = {"weir submit -n1 sleep 5  # one task on one core; prints the job id",
                        "weir submit -n2 --queue=batch -t 10m ./a.out  # two tasks, at most ten minutes",
                        "weir submit --wait hostname  # wait for the end and show the output"};
    command.words = {"COMMAND [ARGUMENT...]", 1, SIZE_MAX, true};
    command.options = {
        {"ntasks", 'n', "N", "number of tasks (default 1)", Kind::integer, 1, 1 << 24},
        {"cores-per-task", 'c', "N", "cores for each task (default 1)", Kind::integer, 1, 1 << 20},
        {"memory-per-task", 0, "SIZE", "memory for each task, as 4GiB (default: none is reserved)"},
        {"nodes", 'N', "N", "number of nodes, with equally many tasks on each", Kind::integer, 1, 1 << 20},
        {"time-limit", 't', "FSD", "end the job after 30s, 10m, 1.5h, 2d", Kind::duration},
        {"queue", 'q', "NAME", "queue (default: the instance's default queue)"},
        {"account", 'A', "PATH", "account to charge (default: the user's default account)"},
        {"qos", 0, "NAME", "quality of service"},
        {"nice", 0, "N", "N steps below normal (urgency 16-N); 16 holds the job", Kind::integer, -15, 16},
        {"job-name", 0, "NAME", "name of the job (default: the program's name)"},
        {"input", 0, "FILE", "each task reads this file (default: nothing)"},
        {"output", 0, "FILE",
         "write the output to this file, in which {{id}} is the job (default: kept for weir output)"},
        {"error", 0, "FILE", "write errors to this file (default: where the output goes)"},
        {"setattr", 0, "KEY=VALUE", "set an attribute of the jobspec, below system. (may be repeated)"},
        {"user", 'u', "NAME", "charge another user (only for the instance's owner, as whom the program runs)"},
        {"simulate", 0, "FSD", "simulate a job of this duration without running a program", Kind::duration},
        {"wait", 'w', "", "wait for the end, show the output, and exit with 1 if the job failed", Kind::flag},
    };
    command.run = run_submit;
    return command;
}

}  // namespace weir::cmd
