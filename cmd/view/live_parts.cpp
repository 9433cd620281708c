// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the columns of live pictures and what they leave out where the terminal is narrow.
#include "cmd/view/live_parts.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

#include "cmd/common/text.hpp"
#include "cmd/view/bars.hpp"
#include "cmd/view/share_rows.hpp"

namespace weir::cmd {
namespace {

struct ShareLayout {
    std::size_t label, bar;
    bool has_counts;  ///< the columns of running cores and waiting jobs
};
ShareLayout share_layout(const Screen& screen, std::size_t marks) {
    const std::size_t width = (screen.width == 0 ? 99 : screen.width) - marks;
    const std::size_t figures = 3 * 9, counts = 16, label = 22;
    const std::size_t bar_min = 8 + 2;
    if (width >= label + figures + counts + bar_min) {
        return {label, std::min<std::size_t>(32, width - label - figures - counts - 2), true};
    }
    if (width >= label + figures + bar_min) {
        return {label, width - label - figures - 2, false};
    }
    return {std::min(label, width - figures), 0, false};
}

std::string mark_of(const RowWindow& window, std::size_t row) {
    return !window.has_marks ? "" : window.marked == row ? ">" : " ";
}

std::string share_head(const ShareLayout& at, const Screen& screen, const RowWindow& window) {
    const std::string head = (window.has_marks ? " " : "") + padded_right("account", at.label) +
                             padded_left("entitled", 9) + padded_left("used", 9) +
                             (at.bar > 0 ? "  " + padded_right("", at.bar) : "") + padded_left("ratio", 9);
    return styled(screen, "2", at.has_counts ? head + padded_left("cores", 7) + padded_left("waiting", 9) : head);
}

/// A path with nodes below it that are not shown ends with a plus.
std::string share_label(const TreeRow& row, const ShareLine& share, std::size_t width, Glyphs glyphs) {
    const std::string plus = share.is_shut ? " +" : "";
    return padded_right(clipped(row.label, width - plus.size(), glyphs) + plus, width);
}

constexpr const char* term_colors[] = {"36", "33", "35", "32", "34", "31"};

/// Letters in the proportions of the terms, `full` being the whole width; negative terms have no letters.
std::string term_bar(const QueueLine& job, const std::vector<std::pair<char, std::string>>& letters, double full,
                     std::size_t width, const Screen& screen) {
    std::string bar;
    std::size_t drawn = 0;
    double sum = 0;
    for (std::size_t i = 0; i < letters.size(); ++i) {
        for (const auto& [name, contribution] : job.terms) {
            sum += name == letters[i].second ? std::max(0., contribution) : 0;
        }
        const double at = full > 0 ? std::round(sum / full * static_cast<double>(width)) : 0;
        const std::size_t end = std::clamp(static_cast<std::size_t>(std::min(at, 1e6)), drawn, width);
        if (end > drawn) {
            bar += styled(screen, term_colors[i % std::size(term_colors)], std::string(end - drawn, letters[i].first));
        }
        drawn = end;
    }
    return bar + std::string(width - drawn, ' ');
}

double sum_of_terms(const QueueLine& job) {
    double sum = 0;
    for (const auto& [name, contribution] : job.terms) {
        sum += std::max(0., contribution);
    }
    return sum;
}

/// The whole path, or its last part where there is no room for it.
std::string account_label(const std::string& account, std::size_t width, Glyphs glyphs) {
    const bool is_long = columns(account) > width;
    return clipped(is_long ? account.substr(account.rfind('/') + 1) : account, width, glyphs);
}

struct QueueLayout {
    std::size_t job, account, priority, waited, bar;
};
/// The bar takes the columns that the others leave, or that they lose on a narrow screen.
QueueLayout queue_layout(const Screen& screen, const RowWindow& window, bool has_terms) {
    const std::size_t marks = window.has_marks ? 1 : 0;
    const std::size_t width = (screen.width == 0 ? 99 : screen.width) - marks;
    const auto fixed_columns = [](const QueueLayout& at) {
        return 7 + at.job + 1 + 9 + at.account + 7 + 6 + at.priority + at.waited;
    };
    const QueueLayout wide{14, 16, 10, 9, 0}, narrow{11, 9, 10, 8, 0};
    for (QueueLayout at : {wide, narrow}) {
        if (const std::size_t least = fixed_columns(at) + 2 + 8; has_terms && width >= least) {
            at.bar = std::min<std::size_t>(40, width - least + 8);
            return at;
        }
    }
    return wide;
}

}  // namespace

std::string fitted(const std::string& plain, const Screen& screen, std::size_t strong) {
    const std::string text = screen.width == 0 ? plain : clipped(plain, screen.width, screen.glyphs);
    return strong == 0 || text.size() < strong ? text
                                               : styled(screen, "1", text.substr(0, strong)) + text.substr(strong);
}

std::vector<std::size_t> share_order(const std::vector<ShareLine>& shares) {
    std::vector<std::size_t> order;
    for (const TreeRow& row : tree_rows(shares, {})) {
        order.push_back(row.index);
    }
    return order;
}

Lines share_lines(const std::vector<ShareLine>& shares, const Screen& screen, const RowWindow& window) {
    double full = 0;
    for (const ShareLine& share : shares) {
        full = std::max({full, share.entitled, share.used});
    }
    const ShareLayout at = share_layout(screen, window.has_marks ? 1 : 0);
    Lines lines{share_head(at, screen, window)};
    const std::vector<TreeRow> rows = tree_rows(shares, screen.glyphs);
    const std::size_t end = std::min(rows.size(), window.from + std::min(window.count, rows.size()));
    for (std::size_t i = window.from; i < end; ++i) {
        const ShareLine& share = shares[rows[i].index];
        const double times = times_entitled(share.used, share.entitled);
        std::string line = mark_of(window, i) + share_label(rows[i], share, at.label, screen.glyphs) +
                           padded_left(percent(share.entitled), 9) + padded_left(percent(share.used), 9);
        if (at.bar > 0) {
            const std::string picture = bullet(share.used, share.entitled, full, at.bar, screen.glyphs);
            line += "  " + styled(screen, times > 1.1 ? "33" : "36", picture);
        }
        line += padded_left(ratio(times, screen.glyphs), 9);
        if (at.has_counts) {
            line += padded_left(std::to_string(share.running_cores), 7) +
                    padded_left(std::to_string(share.pending_jobs), 9);
        }
        lines.push_back(std::move(line));
    }
    return lines;
}

std::string partition_line(const PartitionLine& p, const Screen& screen) {
    if (!p.problem.empty() && !p.is_told) {
        return fitted(padded_right(p.name, 6) + " " + p.problem, screen, 6);
    }
    const std::string used = p.cores_busy ? std::to_string(*p.cores_busy) : "?";
    const double busy = p.cores == 0 ? 0 : static_cast<double>(p.cores_busy.value_or(0)) / static_cast<double>(p.cores);
    const std::size_t width = screen.width != 0 && screen.width < 90 ? 8 : 12;
    const std::string bar = p.cores_busy ? progress_bar(busy, width, screen.glyphs) : std::string(width, ' ');
    const std::string text = padded_right(p.name, 6) + " " + padded_right(p.policy, 14) + " " + bar + " " +
                             padded_left(used + "/" + std::to_string(p.cores), 7) + " cores  " +
                             std::to_string(p.running) + " running, " + std::to_string(p.pending) + " waiting" +
                             (p.is_told ? "; " + p.problem : ", " + std::to_string(p.finished) + " done");
    return fitted(text, screen, 6);
}

Lines run_lines(const PartitionLine& p, const Screen& screen, std::size_t limit) {
    Lines lines;
    const std::size_t count = std::min(limit, p.jobs.size());
    for (std::size_t i = 0; i < count; ++i) {
        const RunLine& job = p.jobs[i];
        lines.push_back(fitted("       " + padded_right(job.id, 14) + " " +
                                   padded_right(clipped(job.user, 8, screen.glyphs), 8) +
                                   padded_left(std::to_string(job.cores), 4) + " cores  " +
                                   progress_bar(job.done, 10, screen.glyphs) + " of its limit",
                               screen));
    }
    if (count > 0 && p.jobs.size() > count) {
        lines.push_back("       and " + std::to_string(p.jobs.size() - count) + " more");
    }
    return lines;
}

std::vector<std::pair<char, std::string>> term_letters(const std::vector<QueueLine>& queue) {
    std::map<std::string, char> names;
    for (const QueueLine& job : queue) {
        for (const auto& [name, contribution] : job.terms) {
            names.emplace(name, '?');
        }
    }
    std::vector<std::pair<char, std::string>> letters;
    for (const auto& [name, unknown] : names) {
        char letter = '?';
        for (const char c : name) {
            const char upper = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
            const bool is_taken =
                std::any_of(letters.begin(), letters.end(), [&](const auto& other) { return other.first == upper; });
            if (std::isalpha(static_cast<unsigned char>(c)) != 0 && !is_taken) {
                letter = upper;
                break;
            }
        }
        letters.emplace_back(letter, name);
    }
    return letters;
}

Lines queue_lines(const std::vector<QueueLine>& queue, const Screen& screen, const RowWindow& window) {
    const auto letters = term_letters(queue);
    double full = 0;
    for (const QueueLine& job : queue) {
        full = std::max(full, sum_of_terms(job));
    }
    const QueueLayout at = queue_layout(screen, window, full > 0);
    const std::string head = (window.has_marks ? " " : "") + std::string("queue  ") + padded_right("job", at.job) +
                             " " + padded_right("user", 9) + padded_right("account", at.account) +
                             padded_right("queue", 7) + padded_left("cores", 6) + padded_left("priority", at.priority) +
                             padded_left("waited", at.waited) + (at.bar > 0 ? "  made of" : "");
    Lines lines{styled(screen, "2", fitted(head, screen))};
    const std::size_t end = std::min(queue.size(), window.from + std::min(window.count, queue.size()));
    for (std::size_t i = window.from; i < end; ++i) {
        const QueueLine& job = queue[i];
        const std::string line = mark_of(window, i) + padded_left(std::to_string(i + 1), 5) + "  " +
                                 padded_right(clipped(job.id, at.job, screen.glyphs), at.job) + " " +
                                 padded_right(clipped(job.user, 8, screen.glyphs), 9) +
                                 padded_right(account_label(job.account, at.account - 1, screen.glyphs), at.account) +
                                 padded_right(clipped(job.queue, 6, screen.glyphs), 7) +
                                 padded_left(std::to_string(job.cores), 6) +
                                 padded_left(" " + std::to_string(job.priority), at.priority) +
                                 padded_left(duration_text(job.waited), at.waited);
        lines.push_back(fitted(line, screen) + (at.bar > 0 ? "  " + term_bar(job, letters, full, at.bar, screen) : ""));
    }
    return lines;
}

}  // namespace weir::cmd
