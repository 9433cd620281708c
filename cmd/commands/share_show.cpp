// SPDX-License-Identifier: LGPL-3.0-only
// Owns: `weir share show` and `share export`: reading the share tree.
#include <algorithm>

#include "cmd/commands/answer.hpp"
#include "cmd/commands/commands.hpp"
#include "cmd/common/reader.hpp"
#include "cmd/common/share_view.hpp"
#include "cmd/common/table.hpp"
#include "cmd/view/bars.hpp"
#include "cmd/view/share_rows.hpp"
#include "cmd/view/share_stand.hpp"
#include "libfairshare/toml/share_tree_revision.hpp"

namespace weir::cmd {
namespace {

/// Nothing if no partition has ever held an unused core.
std::string idle_text(const ShareView& view) {
    return view.idle_core_s == 0 && view.idle_cores == 0
               ? ""
               : "idle in partitions: " + core_hours(view.idle_core_s) + " core-h, " + percent(view.idle) +
                     " of the resources that partitions and jobs held; " + std::to_string(view.idle_cores) +
                     (view.idle_cores == 1 ? " core" : " cores") + " now. It is charged to no user.\n";
}

/// Nothing if every job that counts had an association.
std::string nobodys_text(const ShareView& view) {
    return view.nobodys_core_s <= 0 || view.all_core_s <= 0
               ? ""
               : "jobs of no association: " + core_hours(view.nobodys_core_s) + " core-h, " +
                     percent(view.nobodys_core_s / view.all_core_s) +
                     " of what jobs used. The levels of `weir share explain` and the factors are without them.\n";
}

std::string tree_text(const ShareView& view, const Screen& screen) {
    Table table({{"account"},
                 {"shares", Align::right},
                 {"entitled", Align::right},
                 {"used", Align::right},
                 {"", Align::left, 5},
                 {"ratio", Align::right},
                 {"factor", Align::right, 4},
                 {"cores", Align::right, 2},
                 {"waiting", Align::right, 3}});
    double full = 0;
    for (const ShareNode& node : view.nodes) {
        full = std::max({full, node.entitled, node.used});
    }
    for (const TreeRow& row : tree_rows(view.nodes, screen.glyphs)) {
        const ShareNode& node = view.nodes[row.index];
        const double times = times_entitled(node.used, node.entitled);
        table.add({row.label, node.shares_parent ? "parent" : std::to_string(node.shares), percent(node.entitled),
                   percent(node.used), bullet(node.used, node.entitled, full, 16, screen.glyphs),
                   ratio(times, screen.glyphs), node.factor ? fixed(*node.factor, 3) : "",
                   std::to_string(node.running_cores), std::to_string(node.pending_jobs)});
    }
    std::string text = table.text(screen) + nobodys_text(view) + idle_text(view);
    text += "revision " + std::to_string(view.revision) + (view.author.empty() ? "" : " by " + printable(view.author));
    return text + (view.reason.empty() ? "" : ": " + printable(view.reason)) + "\n";
}

Exit run_show(Context& context) {
    return ask_and_show(context, "job-priority.tree-get", Json::object(), "weir.share/1", [&](const Json& answer) {
        const ShareView view = share_view_of(answer.get());
        if (view.nodes.empty()) {
            return std::string("The share tree is empty. Fill it: weir share apply FILE\n");
        }
        return tree_text(view, context.out) + parent_factors_text(answer.get());
    });
}

Exit run_export(Context& context) {
    return ask_and_show(context, "job-priority.tree-get", Json::object(), "weir.share/1", [](const Json& answer) {
        return with_revision(text_at(answer.get(), "toml"), integer_at(answer.get(), "revision"));
    });
}

}  // namespace

Command share_show_command() {
    Command command;
    command.name = "share show";
    command.summary = "entitlements and usage of accounts and users";
    command.examples = {"weir share show  # the tree: shares, entitled, used, ratio",
                        "weir share show --json  # every figure at full precision",
                        "watch weir share show  # follow it"};
    command.run = run_show;
    return command;
}

Command share_export_command() {
    Command command;
    command.name = "share export";
    command.summary = "print the text of the share tree, with comments and its revision";
    command.examples = {"weir share export > shares.toml  # edit it, then:",
                        "weir share apply --dry-run shares.toml  # show what would change",
                        "weir share apply -m \"new grant\" shares.toml  # apply it"};
    command.run = run_export;
    return command;
}

}  // namespace weir::cmd
