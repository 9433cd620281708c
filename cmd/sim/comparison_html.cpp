// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the page: summary, pictures, tables, data.
#include <algorithm>

#include "cmd/report/page.hpp"
#include "cmd/sim/comparison_text.hpp"
#include "cmd/sim/figures.hpp"
#include "cmd/sim/never_started.hpp"
#include "cmd/sim/pictures.hpp"

namespace weir::cmd {
namespace {

void add_summary(Page& page, const Comparison& comparison) {
    const std::vector<Measured>& policies = comparison.policies;
    std::vector<std::string> columns{"figure"};
    for (const Measured& policy : policies) {
        columns.push_back(policy.name);
    }
    columns.push_back("meaning");
    std::vector<std::vector<std::string>> main, all;
    for (const Figure& figure : figures()) {
        std::vector<std::string> row{figure.name};
        for (std::size_t i = 0; i < policies.size(); ++i) {
            row.push_back(figure_text(figure, policies[i]) + (best(figure, policies) == i ? " ★" : ""));
        }
        row.emplace_back(figure.meaning);
        if (figure.is_main) {
            main.push_back(row);
        }
        all.push_back(std::move(row));
    }
    page.table("★ best of the policies", columns, main, Page::last_is_words);
    page.table("All figures", columns, all, Page::last_is_words | Page::folded);
}

void add_accounts(Page& page, const Comparison& comparison) {
    const auto entitled = comparison.yardstick.accounts.entitled();
    std::vector<std::string> columns{"account", "share"};
    for (const Measured& policy : comparison.policies) {
        columns.push_back(policy.name + ": delivered, core-h");
        columns.push_back("of what was due");
        columns.push_back("wait, mean");
    }
    std::vector<std::vector<std::string>> rows;
    for (const std::size_t account : shown_accounts(comparison, 40)) {
        std::vector<std::string> row{comparison.yardstick.accounts.parties[account].name, percent(entitled[account])};
        for (const Measured& policy : comparison.policies) {
            const PartyMetrics& got = policy.by_account[account];
            row.push_back(grouped(static_cast<std::int64_t>(got.delivered_core_s / 3600 + .5)));
            row.push_back(got.allotted_core_s > 0 ? percent(got.delivered_core_s / got.allotted_core_s) : "-");
            row.push_back(duration_text(duration_from_seconds(got.wait_s)));
        }
        rows.push_back(std::move(row));
    }
    page.table("Numbers: what accounts got, the greatest users first", columns, rows, Page::folded);
}

/// The settings in which the policies differ, all settings in force, and their files.
void add_provenance(Page& page, const Comparison& comparison) {
    const Provenance& provenance = comparison.provenance;
    std::vector<std::string> names, columns{"setting"};
    for (const Measured& policy : comparison.policies) {
        names.push_back(policy.name);
        columns.push_back(policy.name);
    }
    const SettingRows settings = setting_rows(provenance, names);
    const auto middle = settings.rows.begin() + static_cast<std::ptrdiff_t>(settings.differing);
    if (settings.differing > 0) {
        page.table("Settings in which the policies differ", columns, {settings.rows.begin(), middle});
    }
    page.table("Settings that are equal", columns, {middle, settings.rows.end()}, Page::folded);
    std::vector<std::vector<std::string>> files;
    const auto add = [&files](const std::string& of, const SourceFile& file) {
        files.push_back({file.path, of, file.sha256.value_or("-")});
    };
    add("log", provenance.log);
    for (const std::string& name : names) {
        if (const auto source = provenance.policies.find(name); source != provenance.policies.end()) {
            for (const SourceFile& file : source->second.files) {
                add(name, file);
            }
        }
    }
    page.table("Files", {"file", "of", "SHA-256"}, files, Page::folded);
    std::string command;
    for (const std::string& word : provenance.command) {
        command += (command.empty() ? "" : " ") + word;
    }
    page.paragraph("Weir " + provenance.version + ": " + command);
}

std::string yardstick_text(const Yardstick& yardstick) {
    return yardstick.share_tree.empty() ? "Shares: equal ones for all users and for all groups of the log."
                                        : "Shares: " + yardstick.share_tree + ", for all policies alike.";
}

}  // namespace

std::vector<std::size_t> shown_accounts(const Comparison& comparison, std::size_t most) {
    const auto& parties = comparison.yardstick.accounts.parties;
    std::vector<std::size_t> places;
    for (std::size_t i = 1; i < parties.size(); ++i) {
        if (parties[i].parent == comparison.yardstick.accounts.compared_below) {
            places.push_back(i);
        }
    }
    const auto delivered = [&](std::size_t at) {
        double most_delivered = 0;
        for (const Measured& policy : comparison.policies) {
            most_delivered = std::max(most_delivered, policy.by_account[at].delivered_core_s);
        }
        return most_delivered;
    };
    std::stable_sort(places.begin(), places.end(),
                     [&](std::size_t a, std::size_t b) { return delivered(a) > delivered(b); });
    places.resize(std::min(places.size(), most));
    return places;
}

std::string comparison_html(const Comparison& comparison) {
    const Yardstick& yardstick = comparison.yardstick;
    Page page("Policies on " + yardstick.log);
    page.paragraph(grouped(static_cast<std::int64_t>(yardstick.jobs)) + " jobs on " + grouped(yardstick.cores) +
                   " cores. " + yardstick_text(yardstick));
    for (const Measured& policy : comparison.policies) {
        page.paragraph(policy.name + ": scheduler " + policy.scheduler + ", queue ordered by " + policy.order + ". " +
                       (policy.is_complete ? "" : "It " + cut_off_text(policy).substr(policy.name.size() + 1) + "."));
    }
    for (const Measured& policy : comparison.policies) {
        if (const std::string never_started = never_started_text(policy.never_started); !never_started.empty()) {
            page.paragraph(policy.name + ": " + never_started + ".");
        }
    }
    if (const std::string fair = fair_starts_text(comparison); !fair.empty()) {
        page.paragraph(fair);
    }
    add_summary(page, comparison);
    for (const Picture& picture : pictures(comparison)) {
        page.figure(picture.heading, picture.caption, picture.svg);
        if (picture.is_of_accounts) {
            add_accounts(page, comparison);
        }
    }
    add_provenance(page, comparison);
    page.paragraph(
        "The numbers of the pictures are in this file as JSON (element weir-data). Means and "
        "definitions: doc/simulator.md.");
    page.data("weir-data", comparison_json(comparison));
    return page.str();
}

}  // namespace weir::cmd
