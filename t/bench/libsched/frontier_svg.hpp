// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the frontier as a picture: a panel a log, users' slowdown across, longest wait upwards, both logarithmic.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace weir {

struct FrontierPoint {
    std::string name;
    double slowdown = 1;
    double wait_s = 1;
};
struct FrontierPanel {
    std::string log;
    std::vector<FrontierPoint> points;  ///< one of them "easy", one "easy-fs"

    const FrontierPoint& named(const std::string& name) const {
        return *std::find_if(points.begin(), points.end(), [&](const auto& point) { return point.name == name; });
    }
};

/// Those that no other beats in both.
inline std::vector<FrontierPoint> undominated(std::vector<FrontierPoint> points) {
    std::sort(points.begin(), points.end(), [](const auto& a, const auto& b) {
        return a.slowdown != b.slowdown ? a.slowdown < b.slowdown : a.wait_s < b.wait_s;
    });
    std::vector<FrontierPoint> kept;
    for (const FrontierPoint& point : points) {
        if (kept.empty() || point.wait_s < kept.back().wait_s) {
            kept.push_back(point);
        }
    }
    return kept;
}

/// One axis: the place of a value between two bounds, on a logarithmic scale.
struct LogAxis {
    double low, high, from, to;
    double at(double value) const {
        return from + (to - from) * std::log(std::max(value, low) / low) / std::log(high / low);
    }
};

inline void write_panel(std::FILE* file, const FrontierPanel& panel, double left, double top) {
    double low_x = 1e300, high_x = 0, low_y = 1e300, high_y = 0;
    for (const FrontierPoint& point : panel.points) {
        low_x = std::min(low_x, point.slowdown);
        high_x = std::max(high_x, point.slowdown);
        low_y = std::min(low_y, point.wait_s);
        high_y = std::max(high_y, point.wait_s);
    }
    const LogAxis x{low_x / 1.1, high_x * 1.1, left + 60, left + 360};
    const LogAxis y{low_y / 1.2, high_y * 1.2, top + 240, top + 30};
    std::fprintf(file, "<text x='%.0f' y='%.0f' font-weight='bold'>%s</text>\n", left + 60, top + 18,
                 panel.log.c_str());
    const double aim_x = x.at(1.1 * panel.named("easy-fs").slowdown);
    const double aim_y = y.at(2 * panel.named("easy").wait_s);
    std::fprintf(file, "<rect x='%.1f' y='%.1f' width='%.1f' height='%.1f' fill='#e4f2e4'/>\n", left + 60,
                 std::max(aim_y, top + 30), std::min(aim_x, left + 360) - left - 60,
                 top + 240 - std::max(aim_y, top + 30));
    std::fprintf(file, "<path d='M%.0f %.0fV%.0fH%.0f' fill='none' stroke='#555'/>\n", left + 60, top + 30, top + 240,
                 left + 360);
    for (const double days : {0.1, 0.3, 1., 3., 10., 30., 100., 300.}) {
        if (days * 86400 > y.low && days * 86400 < y.high) {
            std::fprintf(file, "<text x='%.0f' y='%.1f' text-anchor='end' fill='#555'>%g d</text>\n", left + 55,
                         y.at(days * 86400) + 4, days);
        }
    }
    for (const double slowdown : {1., 2., 3., 5., 7., 10., 15., 20., 30., 50., 70., 100., 150., 200.}) {
        if (slowdown > x.low && slowdown < x.high) {
            std::fprintf(file, "<text x='%.1f' y='%.0f' text-anchor='middle' fill='#555'>%g</text>\n", x.at(slowdown),
                         top + 254, slowdown);
        }
    }
    for (const FrontierPoint& point : panel.points) {
        const bool is_named = point.name == "easy" || point.name == "easy-fs";
        const bool is_default = point.name == "default";
        const char* color = is_default ? "#161" : is_named ? "#c33" : "#9ab";
        std::fprintf(file, "<circle cx='%.1f' cy='%.1f' r='%d' fill='%s'><title>%s: %.1f, %.2f d</title></circle>\n",
                     x.at(point.slowdown), y.at(point.wait_s), is_named || is_default ? 5 : 2, color,
                     point.name.c_str(), point.slowdown, point.wait_s / 86400);
        if (is_named || is_default) {
            std::fprintf(file, "<text x='%.1f' y='%.1f' fill='%s'>%s</text>\n", x.at(point.slowdown) + 7,
                         y.at(point.wait_s) + (is_default ? 14 : 4), color, point.name.c_str());
        }
    }
    std::fprintf(file, "<polyline fill='none' stroke='#246' stroke-width='1.5' points='");
    for (const FrontierPoint& point : undominated(panel.points)) {
        std::fprintf(file, "%.1f,%.1f ", x.at(point.slowdown), y.at(point.wait_s));
    }
    std::fprintf(file, "'/>\n");
}

inline void write_frontier_svg(const std::string& path, const std::vector<FrontierPanel>& panels) {
    std::FILE* file = std::fopen(path.c_str(), "w");
    const std::size_t rows = (panels.size() + 1) / 2;
    std::fprintf(file,
                 "<svg xmlns='http://www.w3.org/2000/svg' width='760' height='%zu' font-family='sans-serif' "
                 "font-size='11'>\n<rect width='100%%' height='100%%' fill='white'/>\n",
                 rows * 280 + 20);
    for (std::size_t i = 0; i < panels.size(); i++) {
        write_panel(file, panels[i], static_cast<double>(i % 2) * 375, static_cast<double>(i / 2) * 280);
    }
    std::fprintf(file,
                 "<text x='60' y='%zu' fill='#555'>across: users' mean bounded slowdown; upwards: longest wait; green: "
                 "the aim</text>\n"
                 "</svg>\n",
                 rows * 280 + 10);
    std::fclose(file);
}

}  // namespace weir
