// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the one use of CLI11. It splits options from words; names, suggestions, ranges and counts are checked here,
// because its own messages neither suggest nor name a remedy.
#include "cmd/cli/parse.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>

#include "cmd/cli/help.hpp"
#include "cmd/common/text.hpp"
#include "libfairshare/base/nearest_name.hpp"

namespace weir::cmd {
namespace {

using Strings = std::vector<std::string>;

Error usage(const std::string& sentence, const std::string& remedy) {
    return Error{std::errc::invalid_argument, sentence + "\n" + remedy};
}
std::string see_help(const std::string& name) {
    return "Try: weir " + (name.empty() ? "" : name + " ") + "--help";
}

const Option* find_option(const std::vector<Option>& options, const std::string& word) {
    const std::string name = word.compare(0, 2, "--") == 0 ? word.substr(2, word.find('=') - 2) : "";
    for (const Option& option : options) {
        if (name.empty() ? (word.size() >= 2 && word[0] == '-' && option.letter == word[1]) : option.name == name) {
            return &option;
        }
    }
    return nullptr;
}

/// The option of `word` that takes a value: `--name`, or a letter, also behind letters of flags as in -wn. nullptr:
/// none.
const Option* valued_option(const std::vector<Option>& options, const std::string& word) {
    if (word.compare(0, 2, "--") == 0) {
        const Option* option = find_option(options, word);
        return option != nullptr && option->kind != Kind::flag ? option : nullptr;
    }
    for (std::size_t i = 1; i < word.size(); ++i) {
        const Option* option = find_option(options, {'-', word[i]});
        if (option == nullptr || option->kind != Kind::flag) {
            return option;
        }
    }
    return nullptr;
}
/// Whether that value is the next word: behind `--name` without "=", and behind a letter that ends its word.
bool is_value_apart(const Option& option, const std::string& word) {
    return word.compare(0, 2, "--") == 0 ? word.find('=') == std::string::npos
                                         : word.find(option.letter, 1) == word.size() - 1;
}

bool is_negative_number(const std::string& word) {
    return word.size() > 1 && word[0] == '-' && word[1] >= '0' && word[1] <= '9';
}
bool looks_like_option(const std::string& word) {
    return word.size() > 1 && word[0] == '-' && !is_negative_number(word);
}

/// Index of the first word at or after `from` that is neither an option nor an option's value; argv.size() if none.
std::size_t first_word(const Strings& argv, const std::vector<Option>& options, std::size_t from) {
    for (std::size_t i = from; i < argv.size(); ++i) {
        if (argv[i] == "--") {
            return i;
        }
        if (!looks_like_option(argv[i])) {
            return i;
        }
        const Option* option = valued_option(options, argv[i]);
        if (option != nullptr && is_value_apart(*option, argv[i])) {
            ++i;
        }
    }
    return argv.size();
}

std::vector<Option> all_options(const Command& command) {
    std::vector<Option> options = command.options;
    const auto global = global_options_of(command);
    options.insert(options.end(), global.begin(), global.end());
    return options;
}

Result<Done> check_value(const Option& option, const std::string& value, const std::string& command) {
    const std::string name = "--" + option.name;
    if (option.kind == Kind::integer && !parse_integer(value, option.low, option.high)) {
        return usage(name + " takes a whole number from " + std::to_string(option.low) + " to " +
                         std::to_string(option.high) + ", not \"" + value + "\".",
                     see_help(command));
    }
    if (option.kind == Kind::number && (!parse_number(value) || *parse_number(value) <= 0)) {
        return usage(name + " takes a number above 0, not \"" + value + "\".", see_help(command));
    }
    const bool is_number = parse_number(value).has_value();
    const bool is_bare = option.kind == Kind::seconds && is_number;
    if ((option.kind == Kind::duration || option.kind == Kind::seconds) &&
        !parse_duration(value + (is_bare ? "s" : ""))) {
        return usage(name + " takes a duration such as 30s, 10m, 1.5h or 7d, not \"" + value + "\"" +
                         (is_number ? ", which has no unit: write " + value + "s, " + value + "m, " + value + "h or " +
                                          value + "d."
                                    : "."),
                     see_help(command));
    }
    return Done{};
}

Error unknown_option(const std::string& word, const std::vector<Option>& options, const std::string& command) {
    Strings names;
    for (const Option& option : options) {
        names.push_back(option.name);
    }
    const std::string shown = word.substr(0, word.find('='));
    const std::string near = nearest_name(shown.substr(shown.compare(0, 2, "--") == 0 ? 2 : 1), names);
    return usage(
        "weir " + command + " has no option " + shown + (near.empty() ? "." : ". Did you mean --" + near + "?"),
        see_help(command));
}

Error unknown_command(const std::string& word, const std::string& group, const std::vector<Command>& table) {
    Strings names;
    const std::string prefix = group.empty() ? "" : group + " ";
    for (const Command& command : table) {
        if (command.name.compare(0, prefix.size(), prefix) == 0) {
            const std::string rest = command.name.substr(prefix.size());
            names.push_back(rest.substr(0, rest.find(' ')));
        }
    }
    const std::string near = nearest_name(word, names);
    const std::string what = group.empty() ? "weir has no command \"" : "weir " + group + " has no command \"";
    return usage(what + word + "\"." + (near.empty() ? "" : " Did you mean \"weir " + prefix + near + "\"?"),
                 see_help(group));
}

/// Splits with CLI11; what it does not know stays in order in the second part.
Result<std::pair<std::map<std::string, Strings>, Strings>> split(const Strings& argv,
                                                                 const std::vector<Option>& options,
                                                                 const std::string& command) {
    CLI::App app;
    app.set_help_flag();
    app.allow_extras();
    std::map<std::string, Strings> texts;
    std::map<std::string, int> flags;
    for (const Option& option : options) {
        const std::string names =
            (option.letter != 0 ? std::string("-") + option.letter + "," : "") + "--" + option.name;
        if (option.kind == Kind::flag) {
            app.add_flag(names, flags[option.name]);
        } else {
            app.add_option(names, texts[option.name])->expected(1)->allow_extra_args(false)->take_all();
        }
    }
    Strings reversed(argv.rbegin(), argv.rend());
    try {
        app.parse(reversed);
    } catch (const CLI::ArgumentMismatch&) {
        const Option* option = argv.empty() ? nullptr : valued_option(options, argv.back());
        const std::string name = option != nullptr ? "--" + option->name : "An option";
        return usage(
            name + " needs a value" + (option != nullptr ? ": --" + option->name + "=" + option->value : "") + ".",
            see_help(command));
    } catch (const CLI::Error& e) {
        return usage(std::string(e.what()) + ".", see_help(command));
    }
    std::map<std::string, Strings> values;
    for (auto& [name, list] : texts) {
        if (!list.empty()) {
            values[name] = list;
        }
    }
    for (const auto& [name, count] : flags) {
        if (count > 0) {
            values[name] = {""};
        }
    }
    return std::pair{values, app.remaining()};
}

Result<Request> parse_for(const Command& command, Strings argv) {
    const std::vector<Option> options = all_options(command);
    Strings tail;
    if (command.words.is_command_line) {
        std::size_t begin = first_word(argv, options, 0);
        tail.assign(argv.begin() + static_cast<std::ptrdiff_t>(begin), argv.end());
        argv.resize(begin);
        if (!tail.empty() && tail.front() == "--") {
            tail.erase(tail.begin());
        }
    }
    auto parts = split(argv, options, command.name);
    if (!parts) {
        return parts.error();
    }
    Request request;
    request.command = &command;
    request.args.values = std::move(parts->first);
    bool only_words = false;
    for (const std::string& word : parts->second) {
        if (!only_words && word == "--") {
            only_words = true;
        } else if (!only_words && looks_like_option(word)) {
            return unknown_option(word, options, command.name);
        } else {
            request.args.words.push_back(word);
        }
    }
    request.args.words.insert(request.args.words.end(), tail.begin(), tail.end());
    if (request.args.has("help")) {
        request.what = Request::What::help;
        return request;
    }
    for (const Option& option : options) {
        if (request.args.has(option.name) && option.kind != Kind::flag) {
            if (auto ok = check_value(option, request.args.text(option.name), command.name); !ok) {
                return ok.error();
            }
        }
    }
    const std::size_t count = request.args.words.size();
    if (count < command.words.count_min || count > command.words.count_max) {
        const std::string what = count < command.words.count_min
                                     ? "weir " + command.name + " needs " + command.words.shown + "."
                                     : "weir " + command.name + " takes " +
                                           (command.words.shown.empty() ? "no words" : command.words.shown) + "; \"" +
                                           request.args.words.back() + "\" is one too many.";
        return usage(what, "Usage: " + usage_line(command));
    }
    return request;
}

/// `weir share --help` is help on the group; `weir share` alone is its first command.
Result<Request> parse_group_alone(const std::string& group, const Strings& argv, const std::vector<Command>& table) {
    const auto first = std::find_if(table.begin(), table.end(), [&](const Command& c) {
        return c.name.compare(0, group.size() + 1, group + " ") == 0;
    });
    auto request = parse_for(*first, argv);
    if (request && request->what == Request::What::help) {
        request->command = nullptr;
        request->group = group;
    }
    return request;
}

}  // namespace

Result<Request> parse(const Strings& argv, const std::vector<Command>& table) {
    const std::size_t at = first_word(argv, global_options(), 0);
    for (std::size_t i = 0; i < std::min(at, argv.size()); ++i) {
        if (looks_like_option(argv[i]) && find_option(global_options(), argv[i]) == nullptr && argv[i] != "--version") {
            return usage("weir has no option " + argv[i] + " before the command.", see_help(""));
        }
    }
    Strings rest = argv;
    if (at == argv.size() || argv[at] == "--") {
        Request request;
        const bool version = std::find(argv.begin(), argv.end(), "--version") != argv.end();
        const auto it = std::find_if(table.begin(), table.end(), [](const Command& c) { return c.name == "version"; });
        request.what = version ? Request::What::run : Request::What::help;
        request.command = version && it != table.end() ? &*it : nullptr;
        return request;
    }
    std::string name = argv[at];
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(at));
    const bool is_group = std::any_of(table.begin(), table.end(), [&](const Command& c) {
        return c.name.compare(0, name.size() + 1, name + " ") == 0;
    });
    if (is_group) {
        const std::size_t sub = first_word(rest, global_options(), at);
        if (sub == rest.size()) {
            return parse_group_alone(name, rest, table);
        }
        const std::string word = rest[sub];
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(sub));
        const std::string full = name + " " + word;
        if (std::none_of(table.begin(), table.end(), [&](const Command& c) { return c.name == full; })) {
            return unknown_command(word, name, table);
        }
        name = full;
    }
    for (const Command& command : table) {
        if (command.name == name) {
            return parse_for(command, rest);
        }
    }
    return unknown_command(name, "", table);
}

}  // namespace weir::cmd
