// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the files of association trees with what a slurmctld answered: every column of `sshare -l` in every mode.
// Must not know how they are found.
#include "t/oracle/runner/slurm_tree.hpp"

namespace weir::oracle {

namespace {

constexpr double tol = 1e-12;

/// The column, where the file has it: absent and null are what sshare leaves blank.
void compare(Report& report, const json_t* row, const char* key, double got, double tolerance) {
    if (json_is_number(json_object_get(row, key))) {
        report.number(key, number_at(row, key), got, tolerance);
    }
}

void compare_level(Report& report, const json_t* row, std::optional<double> got) {
    const json_t* expected = json_object_get(row, "level_fs");
    if (json_is_string(expected)) {
        report.text("level_fs", text_at(row, "level_fs"), got ? "finite" : "inf");
    } else if (json_is_number(expected)) {
        got ? report.number("level_fs", json_number_value(expected), *got, tol)
            : report.fail("level_fs", std::to_string(json_number_value(expected)), "inf");
    }
}

void compare_mode(Report& report, const SlurmTree& made, const json_t* rows, const Algorithm& algorithm) {
    const Standings standings = evaluate(algorithm, made.tree, made.usage);
    const char* id = nullptr;
    json_t* row = nullptr;
    json_object_foreach(const_cast<json_t*>(rows), id, row) {
        const NodeId node = made.node.at(std::stoll(id));
        const bool is_user = made.tree.kind(node) == NodeKind::user;
        report.number("raw_usage", number_at(row, "raw_usage"), static_cast<double>(made.usage[node.value]) / made.unit,
                      0);
        const NodeStanding standing = node_standing(algorithm, made.tree, Measures{made.usage}, node);
        compare(report, row, "norm_shares", standing.norm_shares, tol);
        compare(report, row, "norm_usage", standing.norm_usage, tol);
        compare(report, row, "effectv_usage", standing.effective_usage, tol);
        compare_level(report, row, standing.level_fs);
        const double factor = is_user ? standings.factor[node.value] : standing.factor.value_or(0);
        compare(report, row, "fairshare", factor, tol);
        compare(report, row, "fairshare_printed", factor, 5.0001e-7);
    }
}

}  // namespace

void read_slurm_fairshare(const json_t* document, Report& report) {
    const SlurmTree made = slurm_tree(member(document, "assocs"));
    const char* mode = nullptr;
    json_t* rows = nullptr;
    json_object_foreach(const_cast<json_t*>(member(document, "expected")), mode, rows) {
        report.begin(mode);
        const json_t* setup = member(member(document, "modes"), mode);
        compare_mode(report, made, rows, slurm_algorithm(text_at(setup, "slurm_conf")));
        report.begin(std::string{mode} + ", associations");
        report.integer("count", integer_at(document, "user_assoc_count"), made.tree.association_count());
    }
}

}  // namespace weir::oracle
