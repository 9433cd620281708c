// SPDX-License-Identifier: LGPL-3.0-only
// Owns: `weir share history`, `share diff` and `share undo`: the stored revisions, the changes between two, and the
// return to one.
#include "cmd/commands/answer.hpp"
#include "cmd/commands/commands.hpp"
#include "cmd/commands/tree_change.hpp"
#include "cmd/common/reader.hpp"
#include "cmd/common/table.hpp"
#include "cmd/common/time_text.hpp"

namespace weir::cmd {
namespace {

Exit run_history(Context& context) {
    return ask_and_show(
        context, "job-priority.history", Json::object(), "weir.share-history/1", [&](const Json& answer) {
            Table table({{"revision", Align::right}, {"time"}, {"author"}, {"reason", Align::left, 0, 10}});
            for (const json_t* revision : items_at(answer.get(), "revisions")) {
                table.add({std::to_string(integer_at(revision, "revision")), local_time(number_at(revision, "time")),
                           text_at(revision, "author"), text_at(revision, "reason")});
            }
            return table.text(context.out);
        });
}

struct Revisions {
    std::int64_t present = 0;
    std::int64_t before = 0;  ///< 0: none
};

Result<Revisions> revisions_of(Client& client) {
    const auto answer = client.call("job-priority.history", Json::object());
    if (!answer) {
        return answer.error();
    }
    Revisions found;
    found.present = integer_at(answer->get(), "in_force");
    for (const json_t* revision : items_at(answer->get(), "revisions")) {
        const std::int64_t number = integer_at(revision, "revision");
        found.before = number < found.present ? number : found.before;
    }
    return found;
}

/// A revision's number as text. Error: a sentence.
Result<std::int64_t> revision_of(const std::string& word) {
    const auto number = parse_integer(word, 0, INT64_MAX);
    return number
               ? Result<std::int64_t>(*number)
               : Error{std::errc::invalid_argument,
                       "\"" + printable(word) + "\" is no revision. A revision is a number; see: weir share history"};
}

Exit run_diff(Context& context) {
    std::vector<std::int64_t> asked;
    for (const std::string& word : context.args.words) {
        const auto revision = revision_of(word);
        if (!revision) {
            return context.fail(Exit::usage, revision.error().message);
        }
        asked.push_back(*revision);
    }
    return with_instance(context, [&](Client& client) {
        const auto known = revisions_of(client);
        if (!known) {
            return context.fail(known.error());
        }
        Json payload = Json::object();
        payload.set("a", static_cast<long long>(asked.empty() ? known->before : asked[0]));
        payload.set("b", static_cast<long long>(asked.size() < 2 ? known->present : asked[1]));
        const auto answer = client.call("job-priority.tree-diff", payload);
        if (!answer) {
            return context.fail(answer.error());
        }
        if (context.json) {
            context.print(json_text("weir.share-diff/1", *answer));
            return Exit::ok;
        }
        const std::string changes = changes_text(answer->get(), context.out);
        context.print(revisions_text(answer->get()) + changes);
        if (changes.empty()) {
            context.note("The tree is the same in both.");
        }
        return Exit::ok;
    });
}

Exit run_undo(Context& context) {
    const auto asked = context.args.words.empty() ? Result<std::int64_t>(0) : revision_of(context.args.words[0]);
    if (!asked) {
        return context.fail(Exit::usage, asked.error().message);
    }
    return with_instance(context, [&](Client& client) {
        const auto known = revisions_of(client);
        if (!known) {
            return context.fail(known.error());
        }
        const bool is_named = !context.args.words.empty();
        const std::int64_t to = is_named ? *asked : known->before;
        if (to == 0) {
            return context.fail(Exit::no_such, std::string(is_named ? "there is no revision 0: the first one is 1"
                                                                    : "there is no revision before the current one") +
                                                   ". See: weir share history");
        }
        TreeChangeRequest request;
        request.to_revision = to;
        request.base = known->present;
        request.reason = context.args.text("message", "back to revision " + std::to_string(to));
        request.asks = true;
        return put_in_force(context, client, request);
    });
}

}  // namespace

Command share_history_command() {
    Command command;
    command.name = "share history";
    command.summary = "who changed the share tree, when and why";
    command.examples = {"weir share history  # all revisions", "weir share history --json  # for a program",
                        "weir share export  # the current text"};
    command.run = run_history;
    return command;
}

Command share_diff_command() {
    Command command;
    command.name = "share diff";
    command.summary = "what changed between two revisions of the share tree, and who changed it";
    command.examples = {"weir share diff  # the last change", "weir share diff 3  # from revision 3 to the current one",
                        "weir share diff 3 5 --json  # between two revisions, as JSON for a program"};
    command.words = {"[A [B]]", 0, 2};
    command.run = run_diff;
    return command;
}

Command share_undo_command() {
    Command command;
    command.name = "share undo";
    command.summary = "go back to an earlier revision of the share tree";
    command.examples = {"weir share undo --dry-run  # what undoing the last change would do",
                        "weir share undo -m \"wrong grant\"  # undo it: restore the text before it",
                        "weir share undo 3  # the text of revision 3, as a new revision"};
    command.words = {"[REVISION]", 0, 1};
    command.options = tree_change_options();
    command.options.push_back(yes_option());
    command.run = run_undo;
    return command;
}

}  // namespace weir::cmd
