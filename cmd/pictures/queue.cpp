// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the layout of picture 4.
#include "cmd/pictures/queue.hpp"

#include <algorithm>

#include "cmd/common/text.hpp"
#include "cmd/pictures/usage_lines.hpp"
#include "cmd/report/svg.hpp"

namespace weir::cmd {
namespace {

constexpr double queue_width = 940, queue_row = 24, queue_head = 22;
constexpr double user_from = 136, account_from = 208, queue_from = 290, size_to = 486;
constexpr double queue_bar_from = 496, queue_bar_to = 616, start_from = 690, start_to = 925;

/// As a part of the first priority, so that readers need not compare numbers of eight digits.
double part_of_first(const PendingRow& row, std::int64_t highest) {
    return highest > 0 ? std::max(0., static_cast<double>(row.priority) / static_cast<double>(highest)) : 0;
}

void draw_start(Svg& svg, const PendingRow& row, double base, const Axis& x) {
    if (!row.start_s) {
        svg.text(start_from, base, clipped(row.note, 36), "faint");
        return;
    }
    const double at = x.at(*row.start_s);
    const std::string words = "in " + span_text(*row.start_s) + (row.may_move ? " *" : "");
    const bool is_right = at + 14 + 7 * static_cast<double>(columns(words)) > start_to;
    svg.mark(at, base - 4, 1, "estimated start " + words);
    svg.text(is_right ? at - 9 : at + 9, base, words, is_right ? "faint end" : "faint");
}

void draw_pending_row(Svg& svg, const PendingRow& row, double top, std::int64_t highest, const Axis& x) {
    const double base = top + 16, part = part_of_first(row, highest);
    svg.open({{"job", row.job},
              {"place", std::to_string(row.place)},
              {"priority", std::to_string(row.priority)},
              {"start-s", row.start_s ? exact(*row.start_s) : ""}},
             row.job + " of " + row.user + (row.is_own ? " (yours)" : "") + ": place " + std::to_string(row.place) +
                 ", priority " + std::to_string(row.priority));
    if (row.is_own) {
        svg.rect({2, top, queue_width - 4, queue_row - 2}, "box s0");
    }
    const std::string weight = row.is_own ? "bold" : "";
    svg.text(28, base, std::to_string(row.place), row.is_own ? "bold end" : "end");
    svg.text(40, base, clipped(row.job, 13), weight);
    svg.text(user_from, base, clipped(row.user, 9), weight);
    svg.text(account_from, base, clipped(row.account, 10), weight);
    svg.text(queue_from, base, clipped(row.queue, 7), weight);
    svg.text(size_to, base,
             grouped(row.cores) + (row.cores == 1 ? " core" : " cores") +
                 (row.limit_s > 0 ? ", " + span_text(row.limit_s) : ""),
             row.is_own ? "bold end" : "end");
    svg.rect({queue_bar_from, top + 6, std::max(1., part * (queue_bar_to - queue_bar_from)), 12}, "bar s0");
    svg.text(queue_bar_to + 8, base, percent(part), "faint");
    draw_start(svg, row, base, x);
    svg.close();
}

void draw_queue_head(Svg& svg) {
    struct Column {
        double at;
        const char* name;
        const char* classes;
    };
    for (const Column& column :
         {Column{2, "place", "faint"}, Column{40, "job", "faint"}, Column{user_from, "user", "faint"},
          Column{account_from, "account", "faint"}, Column{queue_from, "queue", "faint"},
          Column{size_to, "size, limit", "faint end"}, Column{queue_bar_from, "priority, of the highest", "faint"},
          Column{start_from, "estimated start", "faint"}}) {
        svg.text(column.at, 12, column.name, column.classes);
    }
}

}  // namespace

std::string queue_picture(const std::vector<PendingRow>& rows, std::int64_t all) {
    std::int64_t highest = 0;
    double latest_s = 60;
    bool can_move = false;
    std::string words;
    for (const PendingRow& row : rows) {
        highest = std::max(highest, row.priority);
        latest_s = std::max(latest_s, row.start_s.value_or(0));
        can_move = can_move || (row.start_s && row.may_move);
        words += (words.empty() ? "" : "; ") + row.job + " of " + row.user + ", " + grouped(row.cores) + " cores" +
                 (row.start_s ? ", estimated start in " + span_text(*row.start_s) : "") +
                 (row.start_s && row.may_move ? " or earlier in another partition" : "");
    }
    const Axis x{0, latest_s, start_from + 4, start_to - 4, 0, {}};
    const bool is_cut = all > static_cast<std::int64_t>(rows.size());
    const double row_count = static_cast<double>(std::max<std::size_t>(rows.size(), 1));
    const double height = queue_head + queue_row * row_count + 26;
    Svg svg("queue", queue_width, height, "The queue", rows.empty() ? "No job is pending." : words + ".");
    if (rows.empty()) {
        svg.text(8, queue_head + 16, "No job is pending.");
        return svg.str();
    }
    draw_queue_head(svg);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        draw_pending_row(svg, rows[i], queue_head + queue_row * static_cast<double>(i), highest, x);
    }
    if (can_move) {
        svg.text(start_to, height - 8, "* in its partition; it may start earlier in another one", "faint end");
    }
    if (is_cut) {
        svg.text(8, height - 8, "and " + grouped(all - static_cast<std::int64_t>(rows.size())) + " more", "faint");
    }
    return svg.str();
}

}  // namespace weir::cmd
