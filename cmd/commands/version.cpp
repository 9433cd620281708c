// SPDX-License-Identifier: LGPL-3.0-only
// Owns: `weir version` and `weir help`.
#include "cmd/cli/completion.hpp"
#include "cmd/cli/help.hpp"
#include "cmd/cli/man.hpp"
#include "cmd/commands/answer.hpp"
#include "cmd/commands/commands.hpp"
#include "libfairshare/base/nearest_name.hpp"

namespace weir::cmd {
namespace {

Exit run_version(Context& context) {
    if (context.json) {
        Json answer = Json::object();
        answer.set("version", WEIR_VERSION);
        context.print(json_text("weir.version/1", answer));
    } else {
        context.print("weir " WEIR_VERSION "\n");
    }
    return Exit::ok;
}

Exit run_help(Context& context) {
    if (context.args.has("as")) {
        const std::string form = context.args.text("as");
        if (form != "bash" && form != "man") {
            return context.fail(Exit::usage, "--as takes \"bash\" or \"man\", not \"" + form + "\".");
        }
        context.print(form == "bash" ? bash_completion(*context.table) : man_page(*context.table, WEIR_VERSION));
        return Exit::ok;
    }
    std::string name;
    for (const std::string& word : context.args.words) {
        name += (name.empty() ? "" : " ") + word;
    }
    if (name.empty()) {
        context.print(overview(*context.table));
        return Exit::ok;
    }
    std::vector<std::string> names;
    bool is_group = false;
    for (const Command& command : *context.table) {
        if (command.name == name) {
            context.print(command_help(command));
            return Exit::ok;
        }
        is_group = is_group || command.name.compare(0, name.size() + 1, name + " ") == 0;
        names.push_back(command.name);
    }
    if (is_group) {
        context.print(group_help(name, *context.table));
        return Exit::ok;
    }
    const std::string near = nearest_name(name, names);
    return context.fail(Exit::usage, "weir has no command \"" + name + "\"." +
                                         (near.empty() ? "" : " Did you mean \"weir " + near + "\"?") +
                                         "\nTry: weir --help");
}

}  // namespace

Command version_command() {
    Command command;
    command.name = "version";
    command.summary = "print the version";
    command.examples = {"weir version  # the version of this program", "weir version --json  # for a program",
                        "weir tree --json  # with the versions and modules of running instances"};
    command.run = run_version;
    return command;
}

Command help_command() {
    Command command;
    command.name = "help";
    command.summary = "show help on a command";
    command.examples = {"weir help  # all commands", "weir help submit  # one of them", "weir help share  # a group"};
    command.words = {"[COMMAND]", 0, 2};
    command.options = {{"as", 0, "FORM", "print the completion script (bash) or the manual page (man)"}};
    command.has_json = false;
    command.has_uri = false;
    command.run = run_help;
    return command;
}

}  // namespace weir::cmd
