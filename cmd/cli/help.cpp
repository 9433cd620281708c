// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the layout of help.
#include "cmd/cli/help.hpp"

#include <algorithm>

#include "cmd/common/text.hpp"

namespace weir::cmd {
namespace {

std::string option_text(const Option& option) {
    std::string text = option.letter != 0 ? std::string("-") + option.letter + ", " : "    ";
    text += "--" + option.name;
    return option.value.empty() ? text : text + "=" + option.value;
}

std::string option_lines(const std::vector<Option>& options) {
    std::size_t width = 0;
    for (const Option& option : options) {
        width = std::max(width, columns(option_text(option)));
    }
    std::string text;
    for (const Option& option : options) {
        text += "  " + padded_right(option_text(option), width) + "  " + option.help + "\n";
    }
    return text;
}

std::string command_lines(const std::vector<Command>& commands) {
    std::size_t width = 0;
    for (const Command& command : commands) {
        width = std::max(width, columns(command.name));
    }
    std::string text;
    for (const Command& command : commands) {
        text += "  " + padded_right(command.name, width) + "  " + command.summary + "\n";
    }
    return text;
}

/// "  command    # what it does" with the remarks in one column.
std::string example_lines(const std::vector<std::string>& examples) {
    std::size_t width = 0;
    for (const std::string& example : examples) {
        width = std::max(width, columns(example.substr(0, example.find("  #"))));
    }
    std::string text;
    for (const std::string& example : examples) {
        const std::size_t split = example.find("  #");
        const std::string remark = split == std::string::npos ? "" : example.substr(split);
        text += "  " + (remark.empty() ? example : padded_right(example.substr(0, split), width) + remark) + "\n";
    }
    return text;
}

}  // namespace

std::string exit_lines() {
    return "  0 done, 1 failed, 2 usage, 3 no instance or module, 4 not permitted, 5 no such thing,\n"
           "  6 the tree has changed since it was read, 7 invalid share tree,\n"
           "  130 interrupted (Ctrl-C)\n";
}

std::string usage_line(const Command& command) {
    std::string text = "weir " + command.name;
    text += command.options.empty() ? "" : " [OPTIONS]";
    return command.words.shown.empty() ? text : text + " " + command.words.shown;
}

std::string command_help(const Command& command) {
    std::string text = "weir " + command.name + ": " + command.summary + ".\n\nExamples\n";
    text += example_lines(command.examples);
    text += "\nUsage\n  " + usage_line(command) + "\n";
    if (!command.options.empty()) {
        text += "\nOptions\n" + option_lines(command.options);
    }
    text += "\nFor every command\n" + option_lines(global_options_of(command));
    return text + "\nExit codes\n" + exit_lines();
}

std::string group_help(const std::string& group, const std::vector<Command>& table) {
    std::vector<Command> members;
    std::vector<std::string> examples;
    for (const Command& command : table) {
        if (command.name.compare(0, group.size() + 1, group + " ") == 0) {
            members.push_back(command);
            examples.push_back(command.examples.front());
        }
    }
    examples.resize(std::min<std::size_t>(examples.size(), 3));
    return "Examples\n" + example_lines(examples) + "\nCommands\n" + command_lines(members) + "\nweir " + group +
           " COMMAND --help shows more.\n";
}

std::string overview(const std::vector<Command>& table) {
    return "weir: hierarchical fair-share job priority for Flux.\n\nExamples\n" +
           example_lines({"weir demo  # watch a parent, two partitions and 600 jobs for half a minute",
                          "weir start  # start an instance tree; then, from another terminal:",
                          "weir submit -n2 --queue=batch -t 10m ./a.out  # run a program on two cores"}) +
           "\nCommands\n" + command_lines(table) + "\nFor every command\n" + option_lines(global_options()) +
           "\nweir COMMAND --help tells more, with examples.\n\nExit codes\n" + exit_lines();
}

}  // namespace weir::cmd
