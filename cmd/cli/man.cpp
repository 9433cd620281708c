// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the page's text.
#include "cmd/cli/man.hpp"

#include "cmd/cli/help.hpp"

namespace weir::cmd {
namespace {

/// Text escaped for roff: no escape, no request, hyphens that can be copied.
std::string plain(const std::string& text) {
    std::string out;
    for (const char c : text) {
        out += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
    }
    return out.empty() || (out.front() != '.' && out.front() != '\'') ? out : "\\&" + out;
}

std::string options_text(const std::vector<Option>& options) {
    std::string text;
    for (const Option& option : options) {
        const std::string letter = option.letter != 0 ? std::string("-") + option.letter + ", " : "";
        const std::string value = option.value.empty() ? "" : "=" + option.value;
        text += ".TP\n" + plain(letter + "--" + option.name + value) + "\n" + plain(option.help) + "\n";
    }
    return text;
}

std::string command_text(const Command& command) {
    std::string text = ".SS " + plain(usage_line(command)) + "\n" + plain(command.summary) + ".\n";
    text += options_text(command.options);
    text += ".PP\n.nf\n";
    for (const std::string& example : command.examples) {
        text += plain("    " + example) + "\n";
    }
    return text + ".fi\n";
}

}  // namespace

std::string man_page(const std::vector<Command>& table, const std::string& version) {
    std::string text = ".\\\" SPDX-License-Identifier: LGPL-3.0-only\n.TH WEIR 1 \"\" \"weir " + version +
                       "\"\n.SH NAME\nweir \\- hierarchical fair\\-share job priority for Flux\n"
                       ".SH SYNOPSIS\nweir COMMAND [OPTIONS] [WORDS]\n.SH COMMANDS\n";
    for (const Command& command : table) {
        text += command_text(command);
    }
    text += ".SH OPTIONS OF MOST COMMANDS\n" + options_text(global_options()) + ".SH EXIT STATUS\n";
    text += plain(exit_lines()) + ".SH SEE ALSO\nflux(1)\n.PP\n";
    return text + plain("doc/json.md in the sources of Weir lists what --json prints, member by member.") + "\n";
}

}  // namespace weir::cmd
