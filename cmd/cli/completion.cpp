// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the script.
#include "cmd/cli/completion.hpp"

#include <map>

namespace weir::cmd {
namespace {

constexpr const char* function = R"(
# The words before the cursor that are no options name the command; an option that asks for a value has it behind "=".
_weir() {
    local cur=${COMP_WORDS[COMP_CWORD]} path="" word next
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        next=${path:+$path }$word
        [ -n "${_weir_next[$next]+x}${_weir_options[$next]+x}" ] && path=$next
    done
    COMPREPLY=()
    if [[ $cur == -* ]]; then
        COMPREPLY=($(compgen -W "${_weir_options[${path:-.}]} $_weir_global" -- "$cur"))
        [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
    elif [ -n "${_weir_next[${path:-.}]}" ]; then
        COMPREPLY=($(compgen -W "${_weir_next[${path:-.}]}" -- "$cur"))
    fi
    return 0
}
complete -o default -F _weir weir
)";

std::string option_words(const std::vector<Option>& options) {
    std::string words;
    for (const Option& option : options) {
        words += (words.empty() ? "--" : " --") + option.name + (option.value.empty() ? "" : "=");
    }
    return words;
}

std::string line(const std::string& key, const std::string& words) {
    return "    [\"" + key + "\"]=\"" + words + "\"\n";
}

}  // namespace

std::string bash_completion(const std::vector<Command>& table) {
    std::map<std::string, std::string> next;
    std::string options;
    for (const Command& command : table) {
        const std::size_t space = command.name.find(' ');
        const std::string first = command.name.substr(0, space);
        std::string& top = next["."];
        if ((" " + top + " ").find(" " + first + " ") == std::string::npos) {
            top += (top.empty() ? "" : " ") + first;
        }
        if (space != std::string::npos) {
            std::string& members = next[first];
            members += (members.empty() ? "" : " ") + command.name.substr(space + 1);
        }
        options += line(command.name, option_words(command.options));
    }
    std::string text = "# SPDX-License-Identifier: LGPL-3.0-only\n# Made by: weir help --as=bash\n";
    text += "declare -A _weir_next=(\n";
    for (const auto& [path, words] : next) {
        text += line(path, words);
    }
    return text + ")\ndeclare -A _weir_options=(\n" + options + ")\n_weir_global=\"" + option_words(global_options()) +
           "\"\n" + function;
}

}  // namespace weir::cmd
