// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the layout of `weir tree`.
#include "cmd/view/instance_tree.hpp"

#include "cmd/common/jobs.hpp"
#include "cmd/common/table.hpp"
#include "cmd/common/text.hpp"
#include "cmd/common/time_text.hpp"

namespace weir::cmd {
namespace {

void add_rows(Table& table, const Instance& instance, const std::string& label, const std::string& stem,
              Glyphs glyphs) {
    const std::string lost = instance.lost_since > 0 ? "lost since " + local_time(instance.lost_since) : "";
    const bool is_child = instance.level > 0;
    const std::string busy = instance.cores_busy ? std::to_string(*instance.cores_busy) : "?";
    if (instance.is_told) {
        table.add({label, scheduler_of(instance.modules), busy + "/" + std::to_string(instance.cores),
                   std::to_string(instance.jobs.pending), std::to_string(instance.jobs.running), "?",
                   policy_text(instance.policy, true),
                   lost.empty() ? (instance.is_drained ? "drained; " : "") + instance.problem : lost});
    } else if (!instance.problem.empty()) {
        table.add(
            {label, "", "", "", "", "", policy_text(instance.policy, true), lost.empty() ? instance.problem : lost});
    } else {
        table.add({label, scheduler_of(instance.modules), busy + "/" + std::to_string(instance.cores),
                   std::to_string(instance.jobs.pending), std::to_string(instance.jobs.running),
                   std::to_string(is_child ? instance.jobs.ended_in_child() : instance.jobs.inactive),
                   policy_text(instance.policy, is_child),
                   lost.empty() ? (instance.is_drained ? "drained; " : "") + instance.uri : lost});
    }
    for (std::size_t i = 0; i < instance.children.size(); ++i) {
        const Instance& child = instance.children[i];
        const bool is_last = i + 1 == instance.children.size();
        const std::string name = child.name.empty() ? job_name(child.jobid, glyphs.unicode) : child.name;
        const std::string branch = glyphs.unicode ? (is_last ? "└─ " : "├─ ") : (is_last ? "`- " : "|- ");
        const std::string below = is_last ? "   " : glyphs.unicode ? "│  " : "|  ";
        add_rows(table, child, stem + branch + name, stem + below, glyphs);
    }
}

}  // namespace

std::string instance_tree_text(const Instance& instance, const Screen& screen) {
    Table table({{"instance"},
                 {"scheduler"},
                 {"cores", Align::right},
                 {"waiting", Align::right},
                 {"running", Align::right},
                 {"ended", Align::right, 1},
                 {"policy", Align::left, 1},
                 {"uri", Align::left, 2, 20}});
    add_rows(table, instance, instance.level == 0 ? "top" : "level " + std::to_string(instance.level), "",
             screen.glyphs);
    return table.text(screen);
}

}  // namespace weir::cmd
