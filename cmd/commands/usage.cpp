// SPDX-License-Identifier: LGPL-3.0-only
// Owns: `weir usage`: decayed usage and exact totals per node.
#include "cmd/commands/answer.hpp"
#include "cmd/commands/commands.hpp"
#include "cmd/common/reader.hpp"
#include "cmd/common/table.hpp"
#include "cmd/common/usage_decay.hpp"
#include "cmd/view/share_rows.hpp"

namespace weir::cmd {
namespace {

struct UsageNode {
    std::string path;
    const json_t* entry;
};

std::string usage_text(const json_t* answer, const Screen& screen) {
    Table table({{"account"},
                 {"usage, core-h", Align::right},
                 {"of all", Align::right},
                 {"charged, core-h", Align::right, 1},
                 {"cores now", Align::right}});
    const json_t* total = json_object_get(answer, "total");
    const double all = number_at(total, "usage_core_s");
    const auto add = [&](const std::string& label, const json_t* entry) {
        const double usage = number_at(entry, "usage_core_s");
        table.add({label, core_hours(usage), all > 0 ? percent(usage / all) : "-",
                   core_hours(static_cast<double>(integer_at(entry, "charged_core_us")) / 1e6),
                   has_number(entry, "running_cores") ? std::to_string(integer_at(entry, "running_cores")) : ""});
    };
    std::vector<UsageNode> nodes;
    for (const json_t* entry : items_at(answer, "nodes")) {
        if (!text_at(entry, "path").empty()) {
            nodes.push_back({text_at(entry, "path"), entry});
        }
    }
    for (const TreeRow& row : tree_rows(nodes, screen.glyphs)) {
        add(row.label, nodes[row.index].entry);
    }
    add("(nobody's)", json_object_get(answer, "unassociated"));
    add("(idle in partitions)", json_object_get(answer, "idle"));
    add("all", total);
    return table.text(screen) + decay_clause(usage_decay_of(answer)) + "; charged is the total since the beginning\n";
}

Exit run_usage(Context& context) {
    return ask_and_show(context, "job-priority.usage", Json::object(), "weir.usage/1",
                        [&](const Json& answer) { return usage_text(answer.get(), context.out); });
}

}  // namespace

Command usage_command() {
    Command command;
    command.name = "usage show";
    command.summary = "usage of accounts and users";
    command.examples = {"weir usage  # core-hours, decayed and in total",
                        "weir usage show --json  # exact core-microseconds",
                        "weir share show  # usage compared with entitlement"};
    command.run = run_usage;
    return command;
}

}  // namespace weir::cmd
