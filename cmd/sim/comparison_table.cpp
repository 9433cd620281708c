// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the table's two layouts.
#include "cmd/common/table.hpp"
#include "cmd/sim/comparison_text.hpp"
#include "cmd/sim/figures.hpp"
#include "cmd/sim/job_log.hpp"
#include "cmd/sim/never_started.hpp"

namespace weir::cmd {
namespace {

std::string marked(const Figure& figure, const std::vector<Measured>& policies, std::size_t i) {
    return figure_text(figure, policies[i]) + (best(figure, policies) == i ? " *" : "  ");
}

std::string column_each(const std::vector<Measured>& policies, const Screen& screen) {
    std::vector<Column> columns{{"figure"}};
    for (const Measured& policy : policies) {
        columns.push_back({printable(policy.name) + "  ", Align::right});
    }
    Table table(columns);
    for (const Figure& figure : figures()) {
        std::vector<std::string> row{figure.name};
        for (std::size_t i = 0; i < policies.size(); ++i) {
            row.push_back(marked(figure, policies, i));
        }
        table.add(row);
    }
    return table.text(screen);
}

std::string row_each(const std::vector<Measured>& policies, const Screen& screen) {
    std::vector<Column> columns{{"policy"}};
    int drop = 0;
    for (const Figure& figure : figures()) {
        if (figure.is_main) {
            columns.push_back({std::string(figure.name) + "  ", Align::right, drop++});
        }
    }
    Table table(columns);
    for (std::size_t i = 0; i < policies.size(); ++i) {
        std::vector<std::string> row{printable(policies[i].name)};
        for (const Figure& figure : figures()) {
            if (figure.is_main) {
                row.push_back(marked(figure, policies, i));
            }
        }
        table.add(row);
    }
    return table.text(screen);
}

std::string partitions_text(const Measured& policy, const Screen& screen) {
    if (policy.partitions.empty()) {
        return "";
    }
    std::string text = "\nPartitions of " + printable(policy.name) + "\n";
    text += partitions_table(policy.partitions, policy.machine.makespan, screen);
    for (const std::string& line : skipped_lines(policy.refused)) {
        text += "refused: " + line + "\n";
    }
    return text;
}

}  // namespace

std::string cut_off_text(const Measured& policy) {
    return policy.is_complete ? ""
                              : policy.name + " was cut off: its figures are those of the " +
                                    grouped(static_cast<std::int64_t>(policy.jobs.jobs)) + " jobs that had started";
}

std::string fair_starts_text(const Comparison& comparison) {
    std::uint64_t found = 0;
    bool have_all = true;
    for (const Measured& policy : comparison.policies) {
        found = std::max(found, policy.fair_start ? policy.fair_start->jobs : 0);
        have_all = have_all && policy.fair_start;
    }
    const std::uint64_t all = comparison.yardstick.jobs;
    const std::uint64_t planned = comparison.fair_starts_planned;
    if (found == 0 || found == all) {
        return "";
    }
    const auto number = [](std::uint64_t value) { return grouped(static_cast<std::int64_t>(value)); };
    const std::string of = number(found) + " of " + number(all) + " jobs";
    if (planned == all) {
        return "Fair starts: " + of +
               ", the first of the log: the run was interrupted, so they do not represent the others.";
    }
    return "Fair starts: " + of + ", drawn from the whole log, the same under all policies" +
           (have_all ? "" : " that have them") +
           (found < planned ? " (interrupted: " + number(planned) + " were asked for)" : "") +
           ". In parentheses: the 95 % interval of the figure of all jobs. None is best where intervals overlap.";
}

std::string comparison_table(const Comparison& comparison, const Screen& screen) {
    const std::vector<Measured>& policies = comparison.policies;
    std::size_t width = 32;
    for (const Measured& policy : policies) {
        width += std::max<std::size_t>(columns(policy.name), 9) + 4;
    }
    const bool fits = screen.width == 0 ? policies.size() <= 6 : width <= screen.width;
    std::string text = fits ? column_each(policies, screen) : row_each(policies, screen);
    text += "* best. doc/simulator.md says what each figure means.\n";
    if (const std::string fair = fair_starts_text(comparison); !fair.empty()) {
        text += fair + "\n";
    }
    for (const Measured& policy : policies) {
        text += partitions_text(policy, screen);
        if (const std::string never_started = never_started_text(policy.never_started); !never_started.empty()) {
            text += printable(policy.name) + ": " + never_started + "\n";
        }
        if (const std::string cut = cut_off_text(policy); !cut.empty()) {
            text += printable(cut) + "\n";
        }
    }
    return text;
}

}  // namespace weir::cmd
