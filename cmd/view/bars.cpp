// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the end of a bar and the place of its tick.
#include "cmd/view/bars.hpp"

#include <algorithm>
#include <cmath>

namespace weir::cmd {
namespace {

std::size_t cells(double value, double full, std::size_t width) {
    if (!(full > 0) || !(value > 0)) {
        return 0;
    }
    const double at = std::round(value / full * static_cast<double>(width));
    return std::min(width, static_cast<std::size_t>(std::min(at, 1e6)));
}

}  // namespace

std::string bullet(double value, double tick, double full, std::size_t width, Glyphs glyphs) {
    const std::size_t filled = cells(value, full, width);
    const std::size_t mark = std::min(cells(tick, full, width), width - 1);
    std::string text;
    for (std::size_t i = 0; i < width; ++i) {
        if (i == mark) {
            text += glyphs.unicode ? "│" : "|";
        } else if (i < filled) {
            text += glyphs.unicode ? "█" : "#";
        } else {
            text += glyphs.unicode ? "·" : ".";
        }
    }
    return text;
}

std::string progress_bar(double fraction, std::size_t width, Glyphs glyphs) {
    const std::size_t filled = cells(fraction, 1, width);
    std::string text;
    for (std::size_t i = 0; i < width; ++i) {
        text += i < filled ? (glyphs.unicode ? "█" : "#") : (glyphs.unicode ? "░" : "-");
    }
    return text;
}

}  // namespace weir::cmd
