// SPDX-License-Identifier: LGPL-3.0-only
// Owns: `weir share explain` and `share compare`: why an association stands where it does, and why one of two goes
// first.
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
