// SPDX-License-Identifier: LGPL-3.0-only
// Owns: `weir reload`: the configuration files are read again, by the instance and its partitions.
#include "cmd/instance/reload.hpp"
#include "cmd/commands/answer.hpp"
#include "cmd/commands/commands.hpp"

namespace weir::cmd {
namespace {

Json list_of(const std::vector<std::string>& texts) {
    Json list = Json::array();
    for (const std::string& text : texts) {
        list.append(Json::string(text));
    }
    return list;
}

Exit run_reload(Context& context) {
    return with_instance(context, [&](Client& client) {
        const auto done = reload_tree(client);
        if (!done) {
            return context.fail(done.error());
        }
        for (const std::string& warning : done->warnings) {
            context.note("warning: " + warning);
        }
        if (context.json) {
            Json json = Json::object();
            json.set("changes", list_of(done->changes)).set("warnings", list_of(done->warnings));
            json.set("instances", list_of(done->instances)).set("revision", static_cast<long long>(done->revision));
            context.print(json_text("weir.reload/1", json));
            return Exit::ok;
        }
        for (const std::string& change : done->changes) {
            context.print(change + "\n");
        }
        context.print("Reloaded by " + listed(done->instances) +
                      (done->changes.empty() ? "; no key changed.\n" : ".\n"));
        if (done->revision > 0) {
            context.print("The share tree is at revision " + std::to_string(done->revision) + ".\n");
        }
        return Exit::ok;
    });
}

}  // namespace

Command reload_command() {
    Command command;
    command.name = "reload";
    command.summary = "reload the configuration files in the instance and its partitions";
    command.examples = {"weir reload  # shows what changed; an invalid value changes nothing",
                        "weir reload --json  # changes and warnings, as JSON for a program",
                        "kill -HUP PID  # the same, PID being that of weir start; so does systemctl reload weir"};
    command.run = run_reload;
    return command;
}

}  // namespace weir::cmd
