// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the script.
#include "cmd/cli/completion.hpp"

#include <map>

namespace weir::cmd {
namespace {

constexpr const char* function = R"(
# The words before the cursor that are no options name the command. bash makes "=" a word of its own; behind it, and behind
# an option that asks for a value, there is the value.
_weir() {
    local cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} path="" word next options
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        next=${path:+$path }$word
        [ "$path" = help ] && next=$word
        [ -n "${_weir_next[$next]+x}${_weir_options[$next]+x}" ] && path=$next
    done
    options=${_weir_options[${path:-.}]-$_weir_global}
    COMPREPLY=()
    if [[ $cur == "=" || $before == "=" || " $options ${_weir_letters[${path:-.}]} " == *" $before= "* ]]; then
        :
    elif [[ $cur == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$cur"))
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

/// Those with a value, as option_words() has them.
std::string letter_words(const std::vector<Option>& options) {
    std::string words;
    for (const Option& option : options) {
        if (option.letter != 0 && !option.value.empty()) {
            words += std::string(words.empty() ? "-" : " -") + option.letter + "=";
        }
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
    std::string letters;
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
        std::vector<Option> all = command.options;
        const std::vector<Option> global = global_options_of(command);
        all.insert(all.end(), global.begin(), global.end());
        options += line(command.name, option_words(all));
        letters += line(command.name, letter_words(all));
        if (command.name == "help") {
            next["help"];
        }
    }
    if (const auto help = next.find("help"); help != next.end()) {
        help->second = next["."];
    }
    std::string text = "# SPDX-License-Identifier: LGPL-3.0-only\n# Made by: weir help --as=bash\n";
    text += "declare -A _weir_next=(\n";
    for (const auto& [path, words] : next) {
        text += line(path, words);
    }
    return text + ")\ndeclare -A _weir_options=(\n" + options + ")\ndeclare -A _weir_letters=(\n" + letters +
           ")\n_weir_global=\"" + option_words(global_options()) + "\"\n" + function;
}

}  // namespace weir::cmd
