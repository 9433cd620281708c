// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see slurm_shares.hpp.
#include "t/oracle/runner/slurm_shares.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "t/oracle/runner/slurm_text.hpp"

namespace weir::oracle {

namespace {

/// How sshare prints.
constexpr int decimals = 6;
/// What slurmctld has where nothing was computed.
constexpr double no_value = 4294967294.0;
/// Its raw shares for `parent`.
constexpr std::int64_t uses_parent = 0x7fffffff;

double level_of(const ShareRow& row) {
    return row.level_fs.value_or(INFINITY);
}

std::string trimmed(const std::string& text) {
    const std::size_t from = text.find_first_not_of(' ');
    return from == std::string::npos ? std::string{} : text.substr(from, text.find_last_not_of(' ') - from + 1);
}

/// The cells of a line, empty ones too.
std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> cells(1);
    for (const char c : line) {
        if (c == '|') {
            cells.emplace_back();
        } else {
            cells.back() += c;
        }
    }
    return cells;
}

void compare_cell(Report& report, const std::string& what, const std::string& column, const std::string& cell,
                  const ShareRow& row) {
    const auto number = [&](double got) {
        report.printed(what, cell == "inf" ? INFINITY : std::stod(cell), got, decimals);
    };
    if (column == "RawShares") {
        report.text(what, cell, row.raw_shares ? std::to_string(*row.raw_shares) : "parent");
    } else if (column == "RawUsage") {
        report.number(what, std::stod(cell), std::floor(row.raw_usage), 0);
    } else if (column == "NormShares") {
        number(row.norm_shares);
    } else if (column == "NormUsage") {
        number(row.norm_usage.value_or(0));
    } else if (column == "EffectvUsage") {
        number(row.effective_usage);
    } else if (column == "FairShare") {
        number(row.factor);
    } else if (column == "LevelFS") {
        number(level_of(row));
    } else if (column != "GrpTRESMins" && column != "TRESRunMins") {
        throw std::runtime_error{"sshare has a column " + column};
    }
}

}  // namespace

ShareRows share_rows(const SlurmTree& made, const Algorithm& algorithm, const Measured& measured) {
    const Standings standings = evaluate(algorithm, made.tree, measured.usage);
    ShareRows rows;
    for (const auto& [name, node] : made.by_name) {
        const NodeStanding standing = node_standing(algorithm, made.tree, measured.usage, node);
        ShareRow row;
        row.is_user = made.tree.kind(node) == NodeKind::user;
        if (!made.tree.shares_parent(node)) {
            row.raw_shares = made.tree.shares(node);
        }
        row.raw_usage = measured.raw_usage(node);
        row.norm_shares = standing.norm_shares;
        row.norm_usage = standing.norm_usage;
        row.effective_usage = standing.effective_usage;
        row.level_fs = standing.level_fs;
        row.factor = row.is_user ? standings.factor[node.value] : standing.factor.value_or(0);
        rows.emplace(name, row);
    }
    return rows;
}

ShareRows share_rows(const SlurmTree& made, const Algorithm& algorithm) {
    return share_rows(made, algorithm,
                      {made.usage, [&](NodeId id) { return static_cast<double>(made.usage[id.value]) / made.unit; }});
}

std::string share_name(const Value* row) {
    const std::string name = text_at(row, "name");
    return integer_at(row, "is_user") != 0 ? text_at(row, "parent") + "/" + name : name;
}

void compare_share_data(Report& report, const Value* row, const ShareRows& rows, double tol, bool is_fair_tree) {
    const std::string name = share_name(row);
    const auto found = rows.find(name);
    if (found == rows.end()) {
        report.fail("association", name, "none");
        return;
    }
    const ShareRow& got = found->second;
    report.leave(find(row, "id"), "numbers of associations");
    report.number("raw_usage", number_at(row, "raw_usage"), std::floor(got.raw_usage), 0);
    if (name == "root") {
        if (const Value* expected = find(row, "norm_shares"); is_number(expected)) {
            report.number("norm_shares", number_of(expected), got.norm_shares, tol);
        }
        report.leave(row, "what else slurmctld holds for the root: sshare has no column of it but the usage");
        return;
    }
    if (is_text(find(row, "raw_shares"))) {
        report.text("raw_shares", text_at(row, "raw_shares"), got.raw_shares ? "a number" : "parent");
    } else {
        report.integer("raw_shares", integer_at(row, "raw_shares"), got.raw_shares.value_or(uses_parent));
    }
    const auto compare = [&](const char* key, double value) {
        const Value* expected = find(row, key);
        if (is_text(expected) && text_of(expected) == "inf") {
            report.number(key, INFINITY, value, 0);
        } else if (is_number(expected) && number_of(expected) != no_value) {
            report.number(key, number_of(expected), value, tol);
        }
    };
    compare("norm_shares", got.norm_shares);
    compare("norm_usage", got.norm_usage.value_or(NAN));
    compare("effectv_usage", got.effective_usage);
    // Slurm 22.05 leaves classic factors to sshare, 26.11 has those of users.
    if (is_fair_tree || (got.is_user && number_of(find(row, "fs_factor")) != 0)) {
        compare("fs_factor", got.factor);
    }
    if (is_fair_tree) {
        compare("level_fs", level_of(got));
    }
    report.leave(find(row, "fs_factor"), "classic factors that slurmctld does not keep");
    report.leave(find(row, "level_fs"), "LevelFS, which classic fair share has not");
}

/// Of rows of the same account and user in several partitions, the one with these shares and this usage.
const ShareRow* row_of(const ShareRows& rows, const std::string& name, const std::vector<std::string>& columns,
                       const std::vector<std::string>& cells) {
    const auto cell = [&](const char* column) {
        const auto at = std::find(columns.begin(), columns.end(), column);
        return at == columns.end() ? std::string{} : cells.at(static_cast<std::size_t>(at - columns.begin()));
    };
    const ShareRow* found = nullptr;
    for (const auto& [key, row] : rows) {
        if (key != name && !(key.starts_with(name + "/") && name.find('/') != std::string::npos)) {
            continue;
        }
        const bool fits = cell("RawShares") == (row.raw_shares ? std::to_string(*row.raw_shares) : "parent") &&
                          cell("RawUsage") == std::to_string(static_cast<std::int64_t>(row.raw_usage));
        found = fits || found == nullptr ? &row : found;
    }
    return found;
}

void compare_share_text(Report& report, const std::vector<std::string>& lines, const ShareRows& rows) {
    if (lines.empty()) {
        throw std::runtime_error{"sshare printed nothing"};
    }
    const auto columns = cells_of(lines.front());
    report.integer("rows", static_cast<std::int64_t>(lines.size()) - 1, static_cast<std::int64_t>(rows.size()));
    for (std::size_t i = 1; i < lines.size(); ++i) {
        const auto cells = cells_of(lines[i]);
        if (cells.size() < 2) {
            continue;
        }
        const std::string account = trimmed(cells[0]);
        const std::string user = trimmed(cells[1]);
        const std::string name = user.empty() ? account : account + "/" + user;
        const ShareRow* found = row_of(rows, name, columns, cells);
        if (found == nullptr) {
            report.fail("association", name, "none");
            continue;
        }
        for (std::size_t c = 2; c < std::min(cells.size(), columns.size()); ++c) {
            const bool is_constant = name == "root" && columns[c] != "RawUsage";  // of the root
            if (!cells[c].empty() && !is_constant) {
                compare_cell(report, name + " " + columns[c], columns[c], cells[c], *found);
            }
        }
    }
}

}  // namespace weir::oracle
