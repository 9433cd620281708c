// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the line and the times when it is drawn.
#include "cmd/sim/progress.hpp"

#include <algorithm>
#include <cstdio>

#include "cmd/view/bars.hpp"

namespace weir::cmd {
namespace {

constexpr Duration redraw_interval = std::chrono::milliseconds(100);
constexpr std::size_t bar_width = 24;

}  // namespace

std::string progress_line(const std::string& title, double part, std::uint64_t jobs, Duration elapsed,
                          const Screen& screen) {
    const double seconds = to_seconds(elapsed);
    std::string line = title + "  " + progress_bar(part, bar_width, screen.glyphs) + "  " + percent(part) + "  " +
                       grouped(static_cast<std::int64_t>(jobs)) + " jobs";
    if (seconds > 0) {
        line += ", " + grouped(static_cast<std::int64_t>(static_cast<double>(jobs) / seconds)) + " a second";
    }
    if (part > 0 && part < 1 && seconds > 0) {
        line += "  " + duration_text(duration_from_seconds(seconds / part - seconds)) + " left";
    }
    return clipped(line, screen.width > 0 ? screen.width - 1 : line.size(), screen.glyphs);
}

void Progress::show(double part, std::uint64_t jobs, Duration now) {
    if (!is_shown_ || now - drawn_ < redraw_interval) {
        return;
    }
    drawn_ = now;
    is_drawn_ = true;
    std::fprintf(stderr, "\r%s\x1b[K", progress_line(title_, part, jobs, now - begin_, screen_).c_str());
    std::fflush(stderr);
}

void Progress::clear() {
    if (is_drawn_) {
        std::fputs("\r\x1b[K", stderr);
        std::fflush(stderr);
        is_drawn_ = false;
    }
}

}  // namespace weir::cmd
