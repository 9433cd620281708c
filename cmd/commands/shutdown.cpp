// SPDX-License-Identifier: LGPL-3.0-only
// Owns: `weir shutdown`: the end of an instance, as `flux shutdown` asks for it.
#include "cmd/commands/answer.hpp"
#include "cmd/commands/commands.hpp"
#include "cmd/common/reader.hpp"

namespace weir::cmd {
namespace {

constexpr int told_severity = 4;   ///< warnings and worse
constexpr double no_timeout = -1;  ///< jobs may take their time to end

/// What a stock Flux logs meanwhile.
void tell_line(const Context& context, const json_t* told) {
    std::string line = text_at(told, "log");
    while (!line.empty() && line.back() == '\n') {
        line.pop_back();
    }
    if (!line.empty()) {
        context.note(line);
    }
}

Exit run_shutdown(Context& context) {
    return with_instance(context, [&](Client& client) {
        const std::string parent = client.attribute("parent-uri").value_or("");
        Json payload = Json::object();
        payload.set("loglevel", told_severity);
        const Status done = client.stream(
            "shutdown.start", payload,
            [&](const json_t* told) {
                tell_line(context, told);
                return true;
            },
            no_timeout);
        if (!done) {
            return context.fail(done.error());
        }
        context.print("The instance at " + client.uri() + " has ended.\n");
        if (!parent.empty()) {
            context.note("It was a job of the instance at " + parent +
                         ". If it is a partition there, it starts again: weir partition remove NAME ends it for good.");
        }
        return Exit::ok;
    });
}

}  // namespace

Command shutdown_command() {
    Command command;
    command.name = "shutdown";
    command.summary = "end an instance with its partitions and running jobs";
    command.examples = {
        "weir shutdown  # returns when all has ended; Ctrl-C in the terminal of weir start does the same",
        "weir --uri local:///run/weir/local-0 shutdown  # another instance, of yours",
        "weir partition remove debug  # ends one partition after its running jobs"};
    command.has_json = false;
    command.run = run_shutdown;
    return command;
}

}  // namespace weir::cmd
