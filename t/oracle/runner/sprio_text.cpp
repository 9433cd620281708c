// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see sprio_text.hpp.
#include "t/oracle/runner/sprio_text.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <set>
#include <stdexcept>

#include "libsched/priority/slurm.hpp"

namespace weir::oracle {

namespace {

constexpr std::size_t tres_width = 20;
constexpr double priority_max = 4294967295.0;

/// The header and what follows; before it may stand a warning.
std::vector<std::string> table_of(const std::string& text) {
    auto lines = split(text, '\n');
    const auto header = std::find_if(lines.begin(), lines.end(),
                                     [](const std::string& line) { return line.find("JOBID") != std::string::npos; });
    lines.erase(lines.begin(), header);
    return lines;
}

/// A row's cells by column; the second PARTITION is the factor. TRES is empty where nothing stands in it.
std::map<std::string, std::string> row_of(const std::string& text, const SprioJob& job) {
    const auto lines = table_of(text);
    std::map<std::string, std::string> row;
    for (std::size_t i = 1; i < lines.size() && row.empty(); ++i) {
        const auto columns = split(lines[0], ' ');
        const auto cells = split(lines[i], ' ');
        if (cells.size() > 2 && cells[0] == job.id && cells[1] == job.partition) {
            for (std::size_t k = 2; k < columns.size(); ++k) {
                row[columns[k]] = k < cells.size() ? cells[k] : "";
            }
        }
    }
    return row;
}

/// As printed: how many digits there are depends on the width of the column.
void compare_cell(Report& report, const std::string& what, const std::string& cell, double got) {
    const std::size_t point = cell.find('.');
    report.printed(what, std::stod(cell), got,
                   point == std::string::npos ? 0 : static_cast<int>(cell.size() - point - 1));
}

}  // namespace

void compare_sprio(Report& report, const std::string& text, const SprioJob& job) {
    const auto row = row_of(text, job);
    if (row.empty()) {
        report.fail("sprio " + job.partition, "a row", "none");
        return;
    }
    for (const slurm::Column& column : slurm::sprio_columns(job.got, job.nice)) {
        if (const auto cell = row.find(column.name); cell != row.end()) {
            report.text("sprio " + job.partition + " " + column.name, cell->second, column.value.substr(0, tres_width));
        }
    }
}

void compare_sprio_normalised(Report& report, const std::string& text, const SprioJob& job) {
    const auto row = row_of(text, job);
    if (row.empty()) {
        report.fail("sprio -n " + job.partition, "a row", "none");
        return;
    }
    const bool is_given = job.got.bypass == Bypass::given;
    const std::string where = "sprio -n " + job.partition + " ";
    std::array<char, 64> whole{};  // cut off where the column ends, not rounded
    std::snprintf(whole.data(), whole.size(), "%.14f",
                  is_given ? job.got.priority : std::max(job.got.sum, 1.0) / priority_max);
    const std::string& shown = row.at("PRIORITY");
    report.text(where + "PRIORITY", shown, std::string{whole.data()}.substr(0, shown.size()));
    constexpr auto factors = std::to_array<std::pair<const char*, Factor>>({
        {"AGE", Factor::wait},
        {"ASSOC", Factor::association},
        {"FAIRSHARE", Factor::fairshare},
        {"JOBSIZE", Factor::size},
        {"PARTITION", Factor::queue},
        {"QOS", Factor::qos},
    });
    for (const auto& [name, factor] : factors) {
        if (const auto cell = row.find(name); cell != row.end()) {
            const Term& term = job.got.terms[index_of(factor)];
            compare_cell(report, where + name, cell->second, is_given || term.weight == 0 ? 0 : term.factor);
        }
    }
    std::string tres;
    for (const ResourcePart& part : job.got.resources) {
        if (part.factor != 0 && part.weight != 0 && !is_given) {
            std::array<char, 64> number{};
            std::snprintf(number.data(), number.size(), "%.2f", part.factor);
            tres += (tres.empty() ? "" : ",") + std::string{part.name} + "=" + number.data();
        }
    }
    if (const auto cell = row.find("TRES"); cell != row.end()) {
        report.text(where + "TRES", cell->second, tres.substr(0, tres_width));
    }
}

void compare_sprio_weights(Report& report, const std::string& text, const Words& conf) {
    static const std::set<std::string> without{"JOBID", "USER", "ACCOUNT", "PRIORITY", "QOSNAME", "NICE"};
    const auto lines = table_of(text);
    if (lines.size() < 2) {
        throw std::runtime_error{"sprio -w printed no weights"};
    }
    std::vector<std::string> columns;
    bool is_name = true;  // the first PARTITION is
    for (const std::string& column : split(lines[0], ' ')) {
        if (column == "PARTITION" && is_name) {
            is_name = false;
        } else if (!without.contains(column)) {
            columns.push_back(column);
        }
    }
    const std::map<std::string, std::string> parameters{
        {"AGE", "Age"},         {"ASSOC", "Assoc"},         {"FAIRSHARE", "Fairshare"},
        {"JOBSIZE", "JobSize"}, {"PARTITION", "Partition"}, {"QOS", "QOS"}};
    const auto cells = split(lines[1], ' ');  // "Weights", then the columns' own
    for (std::size_t i = 0; i < columns.size() && i + 1 < cells.size(); ++i) {
        const std::string what = "sprio -w " + columns[i];
        if (columns[i] == "TRES") {
            report.text(what, cells[i + 1], word(conf, "PriorityWeightTRES").substr(0, tres_width));
        } else if (columns[i] == "SITE") {
            report.text(what, cells[i + 1], "1");
        } else {
            report.number(what, std::stod(cells[i + 1]),
                          number_word(conf, "PriorityWeight" + parameters.at(columns[i]), 0), 0);
        }
    }
}

}  // namespace weir::oracle
