// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the layout of the live view and what it leaves out where the terminal is small.
#include "cmd/view/live_view.hpp"

#include <algorithm>

#include "cmd/common/text.hpp"
#include "cmd/view/bars.hpp"
#include "cmd/view/share_rows.hpp"

namespace weir::cmd {
namespace {

using Lines = std::vector<std::string>;

std::string clock_text(Duration d) {
    const std::int64_t s = std::max<std::int64_t>(0, (d.count() + 500'000) / 1'000'000);
    const std::string seconds = std::to_string(s % 60);
    return std::to_string(s / 60) + ":" + (seconds.size() < 2 ? "0" : "") + seconds;
}

std::string day_text(Duration span) {
    const std::int64_t minutes = std::max<std::int64_t>(0, span.count() / 60'000'000);
    const auto two = [](std::int64_t v) { return std::string(v < 10 ? "0" : "") + std::to_string(v); };
    return "day " + std::to_string(minutes / 1440 + 1) + ", " + two(minutes / 60 % 24) + ":" + two(minutes % 60);
}

double done_part(const LiveState& state) {
    return state.jobs == 0 ? 0 : static_cast<double>(state.finished) / static_cast<double>(state.jobs);
}

/// Cut to the screen first, then the leading `strong` bytes in bold: escapes have no width.
std::string fitted(const std::string& plain, const Screen& screen, std::size_t strong = 0) {
    const std::string text = screen.width == 0 ? plain : clipped(plain, screen.width, screen.glyphs);
    return strong == 0 || text.size() < strong ? text
                                               : styled(screen, "1", text.substr(0, strong)) + text.substr(strong);
}

std::string head_line(const LiveState& state, const Screen& screen) {
    const std::string speed = grouped(static_cast<std::int64_t>(state.scale + 0.5));
    const std::string text = "weir  " + day_text(state.span) + (screen.glyphs.unicode ? "  ×" : "  x") + speed + "  " +
                             progress_bar(done_part(state), 16, screen.glyphs) + " " + std::to_string(state.finished) +
                             " of " + std::to_string(state.jobs) + " jobs done  " + clock_text(state.elapsed) +
                             ", about " + clock_text(state.left) + " left";
    return fitted(text, screen, 4);
}

struct ShareLayout {
    std::size_t label, bar;
    bool counts;  ///< the columns of running cores and waiting jobs
};
/// Narrow terminals lose the counts first, then the bar, then a part of the names.
ShareLayout share_layout(const Screen& screen) {
    const std::size_t width = screen.width == 0 ? 99 : screen.width;
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

/// The accounts alone, and of them the `count` that used most, in tree order.
std::vector<ShareLine> largest_accounts(const std::vector<ShareLine>& shares, std::size_t count) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < shares.size(); ++i) {
        if (shares[i].path.find('@') == std::string::npos) {
            order.push_back(i);
        }
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return shares[a].used > shares[b].used; });
    order.resize(std::min(order.size(), count));
    std::sort(order.begin(), order.end());
    std::vector<ShareLine> kept;
    for (const std::size_t i : order) {
        kept.push_back(shares[i]);
    }
    return kept;
}

Lines share_lines(const std::vector<ShareLine>& shares, const Screen& screen) {
    Lines lines;
    double full = 0;
    for (const ShareLine& share : shares) {
        full = std::max({full, share.entitled, share.used});
    }
    const ShareLayout at = share_layout(screen);
    const std::string head = padded_right("account", at.label) + padded_left("entitled", 9) + padded_left("used", 9) +
                             (at.bar > 0 ? "  " + padded_right("", at.bar) : "") + padded_left("ratio", 9);
    lines.push_back(styled(screen, "2", at.counts ? head + padded_left("cores", 7) + padded_left("waiting", 9) : head));
    for (const TreeRow& row : tree_rows(shares, screen.glyphs)) {
        const ShareLine& share = shares[row.index];
        const double times = share.entitled > 0 ? share.used / share.entitled : 0;
        std::string line = padded_right(clipped(row.label, at.label, screen.glyphs), at.label) +
                           padded_left(percent(share.entitled), 9) + padded_left(percent(share.used), 9);
        if (at.bar > 0) {
            const std::string picture = bullet(share.used, share.entitled, full, at.bar, screen.glyphs);
            line += "  " + styled(screen, times > 1.1 ? "33" : "36", picture);
        }
        line += padded_left(ratio(times, screen.glyphs), 9);
        if (at.counts) {
            line += padded_left(std::to_string(share.running_cores), 7) +
                    padded_left(std::to_string(share.pending_jobs), 9);
        }
        lines.push_back(std::move(line));
    }
    return lines;
}

std::string partition_line(const PartitionLine& p, const Screen& screen) {
    const double busy = p.cores == 0 ? 0 : static_cast<double>(p.cores_busy) / static_cast<double>(p.cores);
    const std::string text = padded_right(p.name, 6) + " " + padded_right(p.policy, 14) + " " +
                             progress_bar(busy, 12, screen.glyphs) + " " +
                             padded_left(std::to_string(p.cores_busy) + "/" + std::to_string(p.cores), 7) + " cores  " +
                             std::to_string(p.running) + " running, " + std::to_string(p.pending) + " waiting, " +
                             std::to_string(p.finished) + " done";
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

Lines queue_lines(const LiveState& state, const Screen& screen, std::size_t limit) {
    if (limit < 2 || state.queue.empty()) {
        return {};
    }
    const std::string head = "queue  " + padded_right("job", 14) + " " + padded_right("user", 9) +
                             padded_right("account", 16) + padded_right("queue", 7) + padded_left("cores", 6) +
                             padded_left("priority", 10) + padded_left("waited", 9);
    Lines lines{styled(screen, "2", fitted(head, screen))};
    const std::size_t count = std::min(limit - 1, state.queue.size());
    for (std::size_t i = 0; i < count; ++i) {
        const QueueLine& job = state.queue[i];
        lines.push_back(fitted(padded_left(std::to_string(i + 1), 5) + "  " + padded_right(job.id, 14) + " " +
                                   padded_right(clipped(job.user, 8, screen.glyphs), 9) +
                                   padded_right(clipped(job.account, 15, screen.glyphs), 16) +
                                   padded_right(job.queue, 7) + padded_left(std::to_string(job.cores), 6) +
                                   padded_left(std::to_string(job.priority), 10) +
                                   padded_left(duration_text(job.waited), 9),
                               screen));
    }
    return lines;
}

void append(Lines& to, const Lines& from) {
    to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

Lines live_view(const LiveState& state, const Screen& screen) {
    const std::size_t limit = screen.height == 0 ? 1000 : screen.height;
    const std::size_t fixed_lines = 2 + state.partitions.size();
    Lines shares = share_lines(state.shares, screen);
    if (fixed_lines + shares.size() > limit) {
        const std::size_t room = limit - std::min(limit, fixed_lines + 1);
        shares = share_lines(largest_accounts(state.shares, room), screen);
    }
    std::size_t spare = limit - std::min(limit, fixed_lines + shares.size());
    std::vector<Lines> running;
    for (const PartitionLine& p : state.partitions) {
        const std::size_t most = std::min<std::size_t>(spare / 2, 4);
        running.push_back(most >= 2 ? run_lines(p, screen, most - 1) : Lines{});
        spare -= running.back().size();
    }
    Lines lines{head_line(state, screen), ""};
    append(lines, shares);
    for (std::size_t i = 0; i < state.partitions.size(); ++i) {
        lines.push_back(partition_line(state.partitions[i], screen));
        append(lines, running[i]);
    }
    append(lines, queue_lines(state, screen, std::min<std::size_t>(spare, 11)));
    lines.resize(std::min(lines.size(), limit));
    return lines;
}

std::string live_line(const LiveState& state, Glyphs glyphs) {
    std::string text = "[" + clock_text(state.elapsed) + "] " + day_text(state.span) + "  " +
                       std::to_string(state.finished) + "/" + std::to_string(state.jobs) + " done";
    for (const PartitionLine& p : state.partitions) {
        text += "  " + p.name + " " + std::to_string(p.cores_busy) + "/" + std::to_string(p.cores) + " cores, " +
                std::to_string(p.pending) + " waiting";
    }
    for (const ShareLine& share : state.shares) {
        if (share.path.find('/') == std::string::npos) {
            text += "  " + share.path + " " + percent(share.used) + " of " + percent(share.entitled);
        }
    }
    (void)glyphs;
    return text;
}

}  // namespace weir::cmd
