// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the layouts of report_text.hpp.
#include "cmd/demo/report_text.hpp"

#include <algorithm>
#include <iterator>

#include "cmd/common/table.hpp"
#include "cmd/common/text.hpp"
#include "cmd/view/share_rows.hpp"

namespace weir::cmd {
namespace {

std::string exact_seconds(Duration d) {
    const std::int64_t us = d.count() < 0 ? -d.count() : d.count();
    const std::string rest = std::to_string(us % 1'000'000);
    return (d.count() < 0 ? "-" : "") + std::to_string(us / 1'000'000) + "." + std::string(6 - rest.size(), '0') + rest;
}

std::string csv_cell(const std::string& text) {
    if (text.find_first_of(",\"\n") == std::string::npos) {
        return text;
    }
    std::string quoted = "\"";
    for (const char c : text) {
        quoted += c == '"' ? "\"\"" : std::string(1, c);
    }
    return quoted + "\"";
}

constexpr std::size_t report_rows_max = 40;  // beyond this the text has only the largest accounts
constexpr std::size_t accounts_shown = 12;

/// All rows, or, of a large tree, the top accounts that asked for most.
std::vector<AccountRow> rows_for_people(const std::vector<AccountRow>& rows) {
    if (rows.size() <= report_rows_max) {
        return rows;
    }
    std::vector<AccountRow> top;
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(top),
                 [](const AccountRow& row) { return row.path.find('/') == std::string::npos; });
    std::stable_sort(top.begin(), top.end(),
                     [](const AccountRow& a, const AccountRow& b) { return a.asked > b.asked; });
    top.resize(std::min(top.size(), accounts_shown));
    return top;
}

std::string account_table(const std::vector<AccountRow>& all, const Screen& screen) {
    const std::vector<AccountRow> rows = rows_for_people(all);
    Table table({{"account"},
                 {"entitled", Align::right},
                 {"asked", Align::right, 2},
                 {"delivered", Align::right},
                 {"ratio", Align::right},
                 {"jobs", Align::right, 3},
                 {"wait, median", Align::right},
                 {"slowdown, median", Align::right, 1},
                 {"mean", Align::right, 4}});
    for (const TreeRow& line : tree_rows(rows, screen.glyphs)) {
        const AccountRow& row = rows[line.index];
        table.add({line.label, percent(row.entitled), percent(row.asked), percent(row.delivered),
                   ratio(row.ratio, screen.glyphs), std::to_string(row.jobs), duration_text(row.wait_median),
                   fixed(row.slowdown_median, 1), fixed(row.slowdown_mean, 1)});
    }
    const std::size_t hidden = all.size() - rows.size();
    return table.text(screen) + (hidden > 0 ? "the accounts that asked for most; " + std::to_string(hidden) +
                                                  " more nodes are in report.json\n"
                                            : "");
}

}  // namespace

bool Report::holds() const {
    return !checks.empty() && std::all_of(checks.begin(), checks.end(), [](const Check& c) { return c.holds; });
}

std::string report_text(const Report& report, const Screen& screen) {
    const RunFacts& f = report.facts;
    std::string text = f.workload + ": " + std::to_string(f.jobs) + " jobs on " + std::to_string(f.cores) + " cores, " +
                       duration_text(f.span) + " in " + duration_text(f.real) + " (" +
                       grouped(static_cast<std::int64_t>(f.scale + 0.5)) + " times as fast)\n";
    text += "delivered: while jobs were submitted, the first " + duration_text(f.window) +
            "; the partitions' cores were " + percent(f.utilisation) + " busy then\n";
    text += "waits and slowdowns include the instances' own work: a real millisecond of it counts as " +
            duration_text(duration_from_seconds(f.scale / 1000)) + "\n\n";
    text += account_table(report.rows, screen) + "\n";
    for (const Check& check : report.checks) {
        const std::string mark =
            check.holds ? (screen.glyphs.unicode ? "✓" : "ok ") : (screen.glyphs.unicode ? "✗" : "NOT");
        text += styled(screen, check.holds ? "32" : "31", mark) + " " + check.name + ": " + check.detail + "\n";
    }
    return text;
}

Json report_json(const Report& report) {
    const RunFacts& f = report.facts;
    Json accounts = Json::array();
    for (const AccountRow& row : report.rows) {
        Json entry = Json::object();
        entry.set("path", row.path).set("entitled", row.entitled).set("asked", row.asked);
        entry.set("delivered", row.delivered).set("ratio", row.ratio).set("jobs", static_cast<long long>(row.jobs));
        entry.set("wait_median_s", to_seconds(row.wait_median));
        entry.set("bounded_slowdown_median", row.slowdown_median).set("bounded_slowdown_mean", row.slowdown_mean);
        accounts.append(std::move(entry));
    }
    Json checks = Json::array();
    for (const Check& check : report.checks) {
        Json entry = Json::object();
        checks.append(std::move(entry.set("name", check.name).set("holds", check.holds).set("detail", check.detail)));
    }
    Json json = Json::object();
    json.set("schema", "weir.demo/1").set("holds", report.holds()).set("workload", f.workload);
    json.set("jobs", static_cast<long long>(f.jobs))
        .set("cores", static_cast<long long>(f.cores))
        .set("scale", f.scale)
        .set("wait_s_per_real_ms", f.scale / 1000);
    json.set("span_s", to_seconds(f.span)).set("window_s", to_seconds(f.window)).set("utilization", f.utilisation);
    json.set("real_s", to_seconds(f.real)).set("accounts", std::move(accounts)).set("checks", std::move(checks));
    return json;
}

std::string jobs_csv(const std::vector<JobRecord>& jobs, Instant origin) {
    std::string text =
        "id,child_id,user,account,queue,partition,cores,submit_s,alloc_s,free_s,requested_s,wait_s,result,recalled_"
        "core_s\n";
    for (const JobRecord& job : jobs) {
        text += std::to_string(job.id) + "," + std::to_string(job.child_id) + "," + csv_cell(job.user) + "," +
                csv_cell(job.account) + "," + csv_cell(job.queue) + "," + csv_cell(job.partition) + "," +
                std::to_string(job.cores) + "," + exact_seconds(job.submit - origin) + ",";
        text += (job.has_run() ? exact_seconds(job.alloc - origin) + "," + exact_seconds(job.free - origin) : ",");
        text += "," + exact_seconds(job.requested) + "," +
                (job.has_run() ? exact_seconds(job.alloc - job.submit) : "") + "," + csv_cell(job.result) + "," +
                exact_seconds(Duration{job.recalled_core_us}) + "\n";
    }
    return text;
}

}  // namespace weir::cmd
