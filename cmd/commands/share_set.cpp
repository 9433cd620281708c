// SPDX-License-Identifier: LGPL-3.0-only
// Owns: `weir share set`, `add`, `remove`: one node's line is edited in the text in force, and the text put in force.
// If another line was changed in the meantime, the edit is repeated on the newer text.
#include <cstdint>
#include <functional>

#include "cmd/commands/answer.hpp"
#include "cmd/commands/commands.hpp"
#include "cmd/commands/tree_change.hpp"
#include "cmd/common/node_path.hpp"
#include "cmd/common/share_view.hpp"
#include "libfairshare/toml/share_tree_edit.hpp"
#include "libfairshare/toml/share_tree_toml.hpp"

namespace weir::cmd {
namespace {

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

struct NodeEdit {
    std::string path;   ///< the node's, in full
    Exit when_refused;  ///< if the node exists as required and the edit is refused
    std::function<EditedText(const std::string& text)> make;
    bool asks = false;  ///< before nodes with usage or jobs are removed
};

/// Edits the tree in force. If another revision was made in the meantime, the edit is repeated on it, unless that
/// revision changed the same line: then the exit code is 6. Each failed round is another user's successful change, so
/// the rounds end.
Exit put_edit_in_force(Context& context, Client& client, ShareView view, const NodeEdit& edit) {
    const std::int64_t first_revision = view.revision;
    const auto line = node_line(view.toml, edit.path);
    while (true) {
        const EditedText edited = edit.make(view.toml);
        if (const auto* mistakes = std::get_if<Diagnostics>(&edited)) {
            return context.fail(edit.when_refused, to_string(*mistakes) + "\nNothing was changed.");
        }
        TreeChangeRequest request;
        request.toml = std::get<std::string>(edited);
        request.base = view.revision;
        request.reason = context.args.text("message");
        request.allows_empty = true;  // the last line is removed by name
        request.asks = edit.asks;
        const auto answer = send_confirmed(context, client, request);
        if (answer) {
            return print_change(context, *answer, context.args.has("dry-run"));
        }
        if (exit_of(answer.error()) != Exit::stale) {
            return context.fail(answer.error());
        }
        auto now = share_view(client);
        if (!now) {
            return context.fail(now.error());
        }
        if (node_line(now->toml, edit.path) != line) {
            return print_stale(context, client, answer.error(), first_revision);
        }
        view = std::move(*now);
    }
}

/// Passes the node that the first word names, from the tree in force, to `edit_of`.
template <typename EditOf>
Exit edit_node(Context& context, EditOf edit_of) {
    return with_instance(context, [&](Client& client) {
        auto view = share_view(client);
        if (!view) {
            return context.fail(view.error());
        }
        const auto parsed = parse_share_tree(view->toml);
        if (const auto* mistakes = std::get_if<Diagnostics>(&parsed)) {
            return context.fail(Exit::invalid_tree, to_string(*mistakes));
        }
        const auto path = node_path(std::get<ShareTree>(parsed), context.args.words[0]);
        if (!path) {
            const bool is_ambiguous = path.error().code == std::errc::invalid_argument;
            return context.fail(is_ambiguous ? Exit::usage : Exit::no_such, path.error().message);
        }
        return put_edit_in_force(context, client, std::move(*view), edit_of(*path));
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
    return edit_node(context, [&](const std::string& path) {
        return NodeEdit{path, Exit::usage,
                        [&fields, path](const std::string& text) { return set_fields(text, path, *fields); }};
    });
}

Exit run_add(Context& context) {
    const auto fields = assignments(context.args.words);
    if (!fields) {
        return context.fail(Exit::usage, fields.error().message);
    }
    const std::string path = context.args.words[0];
    return with_instance(context, [&](Client& client) {
        auto view = share_view(client);
        if (!view) {
            return context.fail(view.error());
        }
        if (const auto line = node_line(view->toml, path)) {
            return context.fail(
                Exit::failed, "there is such a line already: " + *line + "\nChange it:  weir share set " + path + " N");
        }
        const std::string parent = path.substr(0, std::max(path.rfind('/'), std::size_t{0}));
        const bool has_parent = path.find('/') == std::string::npos || node_line(view->toml, parent);
        return put_edit_in_force(context, client, std::move(*view),
                                 {path, has_parent ? Exit::usage : Exit::no_such, [&](const std::string& text) {
                                      EditedText added = add_node_line(text, path, 1);
                                      return std::holds_alternative<Diagnostics>(added)
                                                 ? added
                                                 : set_fields(std::get<std::string>(std::move(added)), path, *fields);
                                  }});
    });
}

Exit run_remove(Context& context) {
    return edit_node(context, [&](const std::string& path) {
        return NodeEdit{path, Exit::failed, [path](const std::string& text) { return remove_node_line(text, path); },
                        true};
    });
}

}  // namespace

Command share_set_command() {
    Command command;
    command.name = "share set";
    command.summary = "set a node's shares, limits and targets";
    command.examples = {
        "weir share set chem 40  # the account chem gets 40 shares",
        "weir share set --dry-run alice 3  # what that would change; alice has one line",
        "weir share set chem cores_max=[64,128] wall_time_max=36h target=  # set limits, remove the target"};
    command.words = {"PATH [N] [FIELD=VALUE...]", 2, SIZE_MAX};
    command.options = tree_change_options();
    command.run = run_set;
    return command;
}

Command share_add_command() {
    Command command;
    command.name = "share add";
    command.summary = "add an account or a user to the tree";
    command.examples = {"weir share add chem/polymers 5  # an account below chem",
                        "weir share add chem/polymers/@eve  # eve may use it, with one share",
                        "weir share add bio/@* 2 together=true  # all other users of bio together have two shares"};
    command.words = {"PATH [N] [FIELD=VALUE...]", 1, SIZE_MAX};
    command.options = tree_change_options();
    command.run = run_add;
    return command;
}

Command share_remove_command() {
    Command command;
    command.name = "share remove";
    command.summary = "remove a node that has no nodes below it";
    command.examples = {
        "weir share remove chem/polymers/@eve  # eve may not use it any more",
        "weir share remove --yes -m \"left in May\" chem/@al  # with a reason, and also if he has usage or jobs",
        "weir share remove --dry-run chem/polymers  # what that would change"};
    command.words = {"PATH", 1, 1};
    command.options = tree_change_options();
    command.options.push_back(yes_option());
    command.run = run_remove;
    return command;
}

}  // namespace weir::cmd
