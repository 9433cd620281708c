// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the layout of the live view and what it leaves out where the terminal is low.
#include "cmd/view/live_view.hpp"

#include <algorithm>

#include "cmd/common/text.hpp"
#include "cmd/view/bars.hpp"
#include "cmd/view/live_parts.hpp"

namespace weir::cmd {
namespace {

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

std::string head_line(const LiveState& state, const Screen& screen) {
    const std::string speed = grouped(static_cast<std::int64_t>(state.scale + 0.5));
    const std::string text = "weir  " + day_text(state.span) + (screen.glyphs.unicode ? "  ×" : "  x") + speed + "  " +
                             progress_bar(done_part(state), 16, screen.glyphs) + " " + std::to_string(state.finished) +
                             " of " + std::to_string(state.jobs) + " jobs done  " + clock_text(state.elapsed) +
                             ", about " + clock_text(state.left) + " left";
    return fitted(text, screen, 4);
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
    if (spare >= 2 && !state.queue.empty()) {
        append(lines, queue_lines(state.queue, screen, {0, std::min<std::size_t>(spare, 11) - 1}));
    }
    lines.resize(std::min(lines.size(), limit));
    return lines;
}

std::string live_line(const LiveState& state, Glyphs glyphs) {
    std::string text = "[" + clock_text(state.elapsed) + "] " + day_text(state.span) + "  " +
                       std::to_string(state.finished) + "/" + std::to_string(state.jobs) + " done";
    for (const PartitionLine& p : state.partitions) {
        text += "  " + p.name + " " + std::to_string(p.cores_busy.value_or(0)) + "/" + std::to_string(p.cores) +
                " cores, " + std::to_string(p.pending) + " waiting";
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
