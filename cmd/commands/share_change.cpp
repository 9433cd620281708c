// SPDX-License-Identifier: LGPL-3.0-only
// Owns: `weir share apply`, `set`, `add`, `remove`: a checked text goes to job-priority, and the effect is shown.
// A tree that does not hold changes nothing: exit code 7, every mistake with its place.
#include <pwd.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>

#include "cmd/commands/answer.hpp"
#include "cmd/commands/commands.hpp"
#include "cmd/common/reader.hpp"
#include "cmd/common/share_view.hpp"
#include "cmd/common/table.hpp"
#include "libfairshare/toml/share_tree_edit.hpp"
#include "libfairshare/toml/share_tree_toml.hpp"

namespace weir::cmd {
namespace {

std::string author() {
    const passwd* entry = getpwuid(getuid());
    return entry != nullptr ? entry->pw_name : std::to_string(getuid());
}

std::string change_mark(const std::string& op) {
    return op == "add" ? "+" : op == "remove" ? "-" : op == "move" ? ">" : "~";
}

std::string from_to(const json_t* change, const char* from, const char* to, bool as_percent, const char* arrow) {
    const auto text = [&](const char* key) {
        const json_t* value = json_object_get(change, key);
        if (json_is_string(value)) {
            return std::string(json_string_value(value));
        }
        return !json_is_number(value) ? std::string()
               : as_percent           ? percent(json_number_value(value))
                                      : std::to_string(integer_at(change, key));
    };
    const std::string before = text(from), after = text(to);
    return before.empty() || after.empty() || before == after ? before.empty() ? after : before
                                                              : before + arrow + after;
}

std::string changes_text(const json_t* answer, const Screen& screen) {
    const char* arrow = screen.glyphs.unicode ? " → " : " -> ";
    const auto fields_text = [&](const json_t* change) {
        std::string text;
        for (const json_t* field : items_at(change, "fields")) {
            const std::string before = text_at(field, "from"), after = text_at(field, "to");
            text += (text.empty() ? "" : ", ") + text_at(field, "field") + " " + (before.empty() ? "none" : before) +
                    arrow + (after.empty() ? "none" : after);
        }
        return text;
    };
    Table table({{""}, {"node"}, {"shares"}, {"entitled"}, {""}});
    for (const json_t* change : items_at(answer, "changes")) {
        table.add({change_mark(text_at(change, "op")), text_at(change, "path"),
                   from_to(change, "from", "to", false, arrow),
                   from_to(change, "entitled_from", "entitled_to", true, arrow), fields_text(change)});
    }
    return table.empty() ? "" : table.text(screen);
}

/// Sends the new text and tells what it did. `base` 0: whatever is there is replaced.
Exit set_tree(Context& context, Client& client, const std::string& toml, std::int64_t base) {
    const bool is_dry = context.args.has("dry-run");
    Json payload = Json::object();
    payload.set("toml", toml)
        .set("author", author())
        .set("reason", context.args.text("message"))
        .set("dry_run", is_dry);
    if (base > 0) {
        payload.set("base_revision", base);
    }
    auto answer = client.call("job-priority.tree-set", payload);
    if (!answer) {
        const bool is_invalid = answer.error().code == std::errc::invalid_argument;
        return is_invalid ? context.fail(Exit::invalid_tree, answer.error().message + "\nNothing was changed.")
                          : context.fail(answer.error());
    }
    if (context.json) {
        context.print(json_text("weir.share-set/1", answer->share()));
        return Exit::ok;
    }
    const std::string changes = changes_text(answer->get(), context.out);
    context.print(changes);
    const std::string revision = std::to_string(integer_at(answer->get(), "revision"));
    context.note(changes.empty() ? "Nothing changes: the tree is already so."
                 : is_dry        ? "Nothing applied. Leave out --dry-run to apply it."
                                 : "Revision " + revision + " is in force.");
    return Exit::ok;
}

Exit run_apply(Context& context) {
    const std::string path = context.args.words[0];
    std::ostringstream text;
    if (path == "-") {
        text << std::string(std::istreambuf_iterator<char>(std::cin), {});
    } else {
        std::ifstream file(path, std::ios::binary);
        if (!file) {
            return context.fail(Exit::no_such,
                                "cannot read " + path + ": " + std::generic_category().message(errno) + ".");
        }
        text << file.rdbuf();
    }
    const auto parsed = parse_share_tree(text.str(), path);
    if (const auto* mistakes = std::get_if<Diagnostics>(&parsed)) {
        return context.fail(Exit::invalid_tree,
                            "the share tree does not hold:\n" + to_string(*mistakes) + "\nNothing was changed.");
    }
    return with_instance(context, [&](Client& client) { return set_tree(context, client, text.str(), 0); });
}

/// "40", "cores_max=64", "target=16.5+", "limit=": a field and its value as TOML has it (empty: none).
struct Assignment {
    std::string field;
    std::string value;
};

/// Numbers, lists and truth values stand as they are; other text is quoted.
std::string toml_value(const std::string& text) {
    const bool is_plain = text.empty() || text == "true" || text == "false" || text.front() == '[' ||
                          text.front() == '"' || text.find_first_not_of("0123456789") == std::string::npos;
    return is_plain ? text : '"' + text + '"';
}

/// The words after the path. Error: a sentence.
Result<std::vector<Assignment>> assignments(const std::vector<std::string>& words) {
    std::vector<Assignment> made;
    for (std::size_t i = 1; i < words.size(); i++) {
        const std::size_t equals = words[i].find('=');
        if (equals == 0 || (equals == std::string::npos && i > 1)) {
            return Error{std::errc::invalid_argument,
                         "\"" + words[i] + "\" is no FIELD=VALUE, such as cores_max=64 or target=16.5+."};
        }
        if (equals != std::string::npos) {
            made.push_back({words[i].substr(0, equals), toml_value(words[i].substr(equals + 1))});
        } else if (words[i] == "parent" || parse_integer(words[i], 0, ShareTree::shares_max)) {
            made.push_back({"shares", toml_value(words[i])});
        } else {
            return Error{std::errc::invalid_argument,
                         "shares are a whole number from 0 to 4294967295, or parent, not \"" + words[i] + "\"."};
        }
    }
    return made;
}

/// The tree in force, edited, is put in force.
template <typename Edit>
Exit edit_tree(Context& context, Edit edit) {
    return with_instance(context, [&](Client& client) {
        auto view = share_view(client);
        if (!view) {
            return context.fail(view.error());
        }
        const EditedText edited = edit(view->toml);
        if (const auto* mistakes = std::get_if<Diagnostics>(&edited)) {
            return context.fail(Exit::no_such, to_string(*mistakes) + "\nSee: weir share show");
        }
        return set_tree(context, client, std::get<std::string>(edited), view->revision);
    });
}

EditedText set_fields(std::string text, const std::string& path, const std::vector<Assignment>& fields) {
    for (const auto& [field, value] : fields) {
        EditedText edited = set_field_line(text, path, field, value);
        if (std::holds_alternative<Diagnostics>(edited)) {
            return edited;
        }
        text = std::get<std::string>(std::move(edited));
    }
    return text;
}

Exit run_set(Context& context) {
    const auto fields = assignments(context.args.words);
    if (!fields) {
        return context.fail(Exit::usage, fields.error().message);
    }
    return edit_tree(context,
                     [&](const std::string& text) { return set_fields(text, context.args.words[0], *fields); });
}

Exit run_add(Context& context) {
    const auto fields = assignments(context.args.words);
    if (!fields) {
        return context.fail(Exit::usage, fields.error().message);
    }
    const std::string& path = context.args.words[0];
    return edit_tree(context, [&](const std::string& text) {
        EditedText added = add_node_line(text, path, 1);
        return std::holds_alternative<Diagnostics>(added)
                   ? added
                   : set_fields(std::get<std::string>(std::move(added)), path, *fields);
    });
}

Exit run_remove(Context& context) {
    return edit_tree(context, [&](const std::string& text) { return remove_node_line(text, context.args.words[0]); });
}

const std::vector<Option> options{{"dry-run", 'n', "", "tell what would change, change nothing", Kind::flag},
                                  {"message", 'm', "TEXT", "reason, kept in the history"}};

}  // namespace

Command share_apply_command() {
    Command command;
    command.name = "share apply";
    command.summary = "make a file the share tree";
    command.examples = {"weir share apply --dry-run shares.toml  # check it; what would change",
                        "weir share apply -m \"grants of 2027\" shares.toml  # put it in force, all or nothing",
                        "weir share export | sed s/30/40/ | weir share apply -  # from standard input"};
    command.words = {"FILE", 1, 1};
    command.options = options;
    command.run = run_apply;
    return command;
}

Command share_set_command() {
    Command command;
    command.name = "share set";
    command.summary = "set a node's shares, limits, targets";
    command.examples = {"weir share set chem 40  # the account chem gets 40 shares",
                        "weir share set --dry-run physics/lattice/@alice 3  # what that would do",
                        "weir share set chem cores_max=[64,128] wall_time_max=36h target=  # limits; no target more"};
    command.words = {"PATH [N] [FIELD=VALUE...]", 2, SIZE_MAX};
    command.options = options;
    command.run = run_set;
    return command;
}

Command share_add_command() {
    Command command;
    command.name = "share add";
    command.summary = "add an account or a user to the tree";
    command.examples = {"weir share add chem/polymers 5  # an account below chem",
                        "weir share add chem/polymers/@eve  # eve may charge it, with one share",
                        "weir share add bio/@* 2 together=true  # all others of bio, two shares between them"};
    command.words = {"PATH [N] [FIELD=VALUE...]", 1, SIZE_MAX};
    command.options = options;
    command.run = run_add;
    return command;
}

Command share_remove_command() {
    Command command;
    command.name = "share remove";
    command.summary = "take a node without nodes below it out of the tree";
    command.examples = {"weir share remove chem/polymers/@eve  # eve charges it no more",
                        "weir share remove -m \"left in May\" chem/@al  # with a reason",
                        "weir share remove --dry-run chem/polymers  # who would be entitled to what"};
    command.words = {"PATH", 1, 1};
    command.options = options;
    command.run = run_remove;
    return command;
}

}  // namespace weir::cmd
