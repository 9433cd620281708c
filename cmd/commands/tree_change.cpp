// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see tree_change.hpp.
#include "cmd/commands/tree_change.hpp"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <set>

#include "cmd/commands/answer.hpp"
#include "cmd/common/reader.hpp"
#include "cmd/common/share_view.hpp"
#include "cmd/common/table.hpp"
#include "cmd/common/time_text.hpp"
#include "libfairshare/toml/share_tree_revision.hpp"

namespace weir::cmd {
namespace {

constexpr std::size_t losses_shown_max = 20;

std::string author() {
    const passwd* entry = getpwuid(getuid());
    return entry != nullptr ? entry->pw_name : std::to_string(getuid());
}

std::string change_mark(const std::string& op) {
    return op == "add" ? "+" : op == "remove" ? "-" : op == "move" ? ">" : "~";
}

/// Whether the field belongs into the column of shares: it is "parent" on one side, and empty where shares are a
/// number.
bool is_shares(const json_t* change, const json_t* field) {
    return text_at(change, "op") == "share" && text_at(field, "field") == "shares";
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

}  // namespace

std::string changes_text(const json_t* answer, const Screen& screen) {
    const char* arrow = screen.glyphs.unicode ? " → " : " -> ";
    const auto fields_text = [&](const json_t* change) {
        std::string text;
        for (const json_t* field : items_at(change, "fields")) {
            const std::string before = text_at(field, "from"), after = text_at(field, "to");
            if (is_shares(change, field)) {
                continue;
            }
            text += (text.empty() ? "" : ", ") + text_at(field, "field") + " " + (before.empty() ? "none" : before) +
                    arrow + (after.empty() ? "none" : after);
        }
        return text;
    };
    const auto shares_text = [&](const json_t* change) {
        for (const json_t* field : items_at(change, "fields")) {
            if (is_shares(change, field)) {
                const auto side = [&](const char* text, const char* number) {
                    return text_at(field, text).empty() ? std::to_string(integer_at(change, number)) : "parent";
                };
                return side("from", "shares_from") + arrow + side("to", "shares_to");
            }
        }
        return from_to(change, "from", "to", false, arrow);
    };
    Table table({{""}, {"node"}, {"shares"}, {"entitled"}, {""}});
    for (const json_t* change : items_at(answer, "changes")) {
        table.add({change_mark(text_at(change, "op")), text_at(change, "path"), shares_text(change),
                   from_to(change, "entitled_from", "entitled_to", true, arrow), fields_text(change)});
    }
    return table.empty() ? "" : table.text(screen);
}

std::string revisions_text(const json_t* answer) {
    std::string text;
    for (const json_t* revision : items_at(answer, "revisions")) {
        const std::string reason = printable(text_at(revision, "reason"));
        text += "revision " + std::to_string(integer_at(revision, "revision")) + " by " +
                printable(text_at(revision, "author")) + ", " + local_time(number_at(revision, "time")) +
                (reason.empty() ? "" : ": " + reason) + "\n";
    }
    return text;
}

const std::vector<Option>& tree_change_options() {
    static const std::vector<Option> options{
        {"dry-run", 'n', "", "show what would change, and change nothing", Kind::flag},
        {"message", 'm', "TEXT", "reason, of at most 500 bytes; it is kept in the history"}};
    return options;
}

Option yes_option() {
    return {"yes", 'y', "", "do not ask before removing nodes with usage or jobs", Kind::flag};
}

Result<Json> send_tree(Client& client, const TreeChangeRequest& request, bool is_dry_run) {
    Json payload = Json::object();
    payload.set("author", author()).set("reason", request.reason).set("dry_run", is_dry_run);
    payload.set("allow_empty", request.allows_empty);
    if (request.to_revision) {
        payload.set("to_revision", static_cast<long long>(*request.to_revision));
    } else {
        payload.set("toml", request.toml);
    }
    if (request.base) {
        payload.set("base_revision", static_cast<long long>(*request.base));
    }
    return client.call("job-priority.tree-set", payload);
}

Exit print_change(const Context& context, const Json& answer, bool is_dry_run) {
    if (context.json) {
        context.print(json_text("weir.share-set/1", answer.share()));
        return Exit::ok;
    }
    const std::string changes = changes_text(answer.get(), context.out);
    context.print(changes);
    const bool is_new = json_is_true(json_object_get(answer.get(), "is_new"));
    const std::string revision = "Revision " + std::to_string(integer_at(answer.get(), "revision"));
    context.note(!is_new      ? "No change: " + revision + " already has this text."
                 : is_dry_run ? "Nothing was changed. Omit --dry-run to apply it."
                              : revision + " is in force" +
                                    (changes.empty() ? ": its text is new, its tree is unchanged." : "."));
    return Exit::ok;
}

Exit print_stale(const Context& context, Client& client, const Error& error, std::int64_t base) {
    Json payload = Json::object();
    payload.set("a", static_cast<long long>(base));
    std::string meanwhile;
    if (const auto diff = client.call("job-priority.tree-diff", payload)) {
        const std::string changes = changes_text(diff->get(), context.err);
        meanwhile = "\n" + revisions_text(diff->get()) + (changes.empty() ? "" : changes);
        meanwhile.pop_back();
    }
    return context.fail(Exit::stale, error.message + "." + meanwhile +
                                         "\nNothing was changed. Look at the tree again and repeat the change:  weir "
                                         "share export");
}

namespace {

/// The removed nodes with usage or jobs.
struct Losses {
    std::vector<std::string> lines;  ///< one for each
    bool has_waiting_jobs = false;
};

/// Only what is charged itself: an account that is removed may
/// have its users moved, whose usage it was.
Losses losses(const json_t* answer, const ShareView& view) {
    std::set<std::string> removed;
    for (const json_t* change : items_at(answer, "changes")) {
        if (text_at(change, "op") == "remove") {
            removed.insert(text_at(change, "path"));
        }
    }
    Losses lost;
    for (const ShareNode& node : view.nodes) {
        const bool has_something = node.charged_core_us > 0 || node.running_cores > 0 || node.pending_jobs > 0;
        if (node.factor && has_something && removed.count(node.path) > 0) {
            lost.lines.push_back("  " + node.path + ": " + core_hours(static_cast<double>(node.charged_core_us) / 1e6) +
                                 " core-hours charged, " + std::to_string(node.running_cores) + " cores in use, " +
                                 std::to_string(node.pending_jobs) + " jobs waiting");
            lost.has_waiting_jobs |= node.pending_jobs > 0;
        }
    }
    return lost;
}

/// Asks for a confirmation, only if input and output are a terminal.
bool is_confirmed(const Context& context, const std::string& what) {
    if (isatty(STDIN_FILENO) != 1 || isatty(STDERR_FILENO) != 1) {
        return false;
    }
    context.note(what + "\nRemove them? [y/N]");
    std::string answer;
    std::getline(std::cin, answer);
    return answer == "y" || answer == "Y" || answer == "yes";
}

std::int64_t base_of(const TreeChangeRequest& request) {
    return request.base.value_or(split_revision(request.toml).revision.value_or(0));
}

/// Of the nodes with usage or jobs: "2 nodes are removed that have usage or jobs:" and the first of them.
std::string losses_text(Losses lost) {
    const std::size_t count = lost.lines.size();
    std::string text = std::to_string(count) +
                       (count == 1 ? " node is removed that has" : " nodes are removed that have") + " usage or jobs:";
    lost.lines.resize(std::min(count, losses_shown_max));
    for (const std::string& line : lost.lines) {
        text += "\n" + line;
    }
    text += count > lost.lines.size() ? "\n  and " + std::to_string(count - lost.lines.size()) + " more" : "";
    return text + (lost.has_waiting_jobs ? "\nA waiting job is held back if no other line pays for it." : "");
}

Exit refused(const Context& context, Client& client, const TreeChangeRequest& request, const Error& error) {
    if (exit_of(error) == Exit::stale) {
        return print_stale(context, client, error, base_of(request));
    }
    return error.code == std::errc::invalid_argument
               ? context.fail(Exit::invalid_tree, error.message + "\nNothing was changed.")
               : context.fail(error);
}

}  // namespace

Result<Json> send_confirmed(const Context& context, Client& client, TreeChangeRequest request) {
    const bool is_dry_run = context.args.has("dry-run");
    if (request.asks && !is_dry_run && !context.args.has("yes")) {
        const auto view = share_view(client);
        const auto would = view ? send_tree(client, request, true) : Result<Json>(view.error());
        if (!would) {
            return would.error();
        }
        if (const Losses lost = losses(would->get(), *view); !lost.lines.empty()) {
            const std::string what = losses_text(lost);
            if (!is_confirmed(context, what)) {
                return Error{std::errc::operation_canceled, what + "\nNothing was changed. Say --yes to let them go."};
            }
            request.base = view->revision;  // exactly the change that was shown
        }
    }
    return send_tree(client, request, is_dry_run);
}

Exit put_in_force(Context& context, Client& client, TreeChangeRequest request) {
    const auto answer = send_confirmed(context, client, request);
    return answer ? print_change(context, *answer, context.args.has("dry-run"))
                  : refused(context, client, request, answer.error());
}

}  // namespace weir::cmd
