// SPDX-License-Identifier: LGPL-3.0-only
// Owns: `weir share explain`, `share after` and `share compare`: the reasons for an association's rank, its rank after
// a hypothetical job, and why one of two associations is ahead.
#include <unistd.h>

#include "cmd/commands/answer.hpp"
#include "cmd/commands/commands.hpp"
#include "cmd/view/share_stand.hpp"

namespace weir::cmd {
namespace {

Exit run_share_explain(Context& context) {
    Json payload = Json::object();
    payload.set("path", context.args.words[0]);
    return ask_and_show(context, "job-priority.share-explain", payload, "weir.share-explain/1",
                        [&](const Json& answer) { return share_explain_text(answer.get(), context.out); });
}

Exit run_share_after(Context& context) {
    const auto duration = context.args.duration("time-limit");
    if (!duration) {
        return context.fail(Exit::usage, "how long does the job run? For example: --time-limit=2h");
    }
    return with_instance(context, [&](Client& client) {
        const bool is_own = context.args.words.empty();
        const std::string path = is_own ? Users::of(client).name(getuid()) : context.args.words[0];
        Json payload = Json::object();
        payload.set("path", path).set("cores", context.args.integer("cores", 1)).set("seconds", to_seconds(*duration));
        auto answer = client.call("job-priority.share-after", payload);
        if (!answer) {
            return context.fail(answer.error());
        }
        answer->set("cores", context.args.integer("cores", 1)).set("seconds", to_seconds(*duration));
        context.print(context.json ? json_text("weir.share-after/1", *answer)
                                   : share_after_text(answer->get(), context.out));
        return Exit::ok;
    });
}

Exit run_compare(Context& context) {
    Json payload = Json::object();
    payload.set("a", context.args.words[0]).set("b", context.args.words[1]);
    return ask_and_show(context, "job-priority.share-compare", payload, "weir.share-compare/1",
                        [&](const Json& answer) { return share_compare_text(answer.get(), context.out); });
}

}  // namespace

Command share_explain_command() {
    Command command;
    command.name = "share explain";
    command.summary = "explain the rank of a user: shares and usage, level by level";
    command.examples = {"weir share explain physics/@alice  # what lowers alice's rank in physics",
                        "weir share explain alice  # in her default account",
                        "weir share explain alice --json  # every figure at full precision"};
    command.words = {"PATH", 1, 1};
    command.run = run_share_explain;
    return command;
}

Command share_after_command() {
    Command command;
    command.name = "share after";
    command.summary = "the factor and rank of a user after a job that you think of";
    command.examples = {"weir share after --cores=64 -t 12h  # yours, after 64 cores for 12 hours",
                        "weir share after -n64 -t 12h physics/@alice  # alice's in physics",
                        "weir share after -n64 -t 12h alice --json  # before and after, at full precision"};
    command.words = {"[PATH]", 0, 1};
    command.options = {
        {"cores", 'n', "N", "cores of the job (default 1)", Kind::integer, 1, 10'000'000},
        {"time-limit", 't', "FSD", "how long it runs: 10m, 1.5h, 2d", Kind::duration},
    };
    command.run = run_share_after;
    return command;
}

Command share_compare_command() {
    Command command;
    command.name = "share compare";
    command.summary = "where the paths of two users differ, and why one is ahead";
    command.examples = {"weir share compare physics/@alice chem/@carol  # which of them is ahead",
                        "weir share compare alice carol  # in their default accounts",
                        "weir share compare alice carol --json  # for a program"};
    command.words = {"A B", 2, 2};
    command.run = run_compare;
    return command;
}

}  // namespace weir::cmd
