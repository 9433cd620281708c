// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the files of association trees with what a slurmctld answered: every column of `sshare -l` in every mode.
// Must not know how they are found.
#include <map>

#include "t/oracle/runner/slurm_shares.hpp"
#include "t/oracle/runner/slurm_text.hpp"

namespace weir::oracle {

namespace {

constexpr double tol = 1e-12;

/// The column, where the file has it: absent and null are what sshare leaves blank.
void compare(Report& report, const Value* row, const char* key, double got) {
    if (is_number(find(row, key))) {
        report.number(key, number_at(row, key), got, tol);
    }
}

void compare_level(Report& report, const Value* row, std::optional<double> got) {
    const Value* expected = find(row, "level_fs");
    if (is_text(expected)) {
        report.text("level_fs", text_at(row, "level_fs"), got ? "finite" : "inf");
    } else if (is_number(expected)) {
        if (got) {
            report.number("level_fs", number_of(expected), *got, tol);
        } else {
            report.fail("level_fs", std::to_string(number_of(expected)), "inf");
        }
    }
}

void compare_mode(Report& report, const SlurmTree& made, const Value* expected, const ShareRows& rows) {
    std::map<NodeId, const ShareRow*> by_node;
    for (const auto& [name, node] : made.by_name) {
        by_node[node] = &rows.at(name);
    }
    for (const auto& [id, row] : entries(expected)) {
        const ShareRow& got = *by_node.at(made.node.at(std::stoll(id)));
        report.number("raw_usage", number_at(row, "raw_usage"), got.raw_usage, 0);
        compare(report, row, "norm_shares", got.norm_shares);
        compare(report, row, "norm_usage", got.norm_usage.value_or(0));
        compare(report, row, "effectv_usage", got.effective_usage);
        compare_level(report, row, got.level_fs);
        compare(report, row, "fairshare", got.factor);
        if (is_number(find(row, "fairshare_printed"))) {
            report.printed("fairshare_printed", number_at(row, "fairshare_printed"), got.factor, 6);
        }
    }
}

}  // namespace

void read_slurm_fairshare(const Value* document, Report& report) {
    const Value* associations = member(document, "assocs");
    for (const Value* row : each(associations)) {
        report.leave(find(row, "lft"), "where the program's database keeps an association");
    }
    report.leave(find(document, "first_pass_depth_oblivious"),
                 "the program's first pass after a start, whose figures are garbage");
    const SlurmTree made = slurm_tree(slurm_associations(associations));
    for (const auto& [mode, expected] : entries(member(document, "expected"))) {
        report.begin(mode);
        const Value* setup = member(member(document, "modes"), mode);
        const ShareRows rows = share_rows(made, slurm_algorithm(text_at(setup, "slurm_conf")));
        compare_mode(report, made, expected, rows);
        if (const Value* printed = find(find(document, "sshare_text"), mode)) {
            report.begin(mode + ", printed");
            compare_share_text(report, split(text_of(printed), '\n'), rows);
        }
        report.begin(mode + ", associations");
        report.integer("count", integer_at(document, "user_assoc_count"), made.tree.association_count());
    }
}

}  // namespace weir::oracle
