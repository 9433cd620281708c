// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the layout of picture 2.
#include "cmd/pictures/forgetting.hpp"

#include <algorithm>
#include <cmath>

#include "cmd/common/text.hpp"
#include "cmd/report/svg.hpp"

namespace weir::cmd {
namespace {

constexpr double panels_width = 940, panel_width = 298, panel_height = 214, panels_left = 46;

std::string meeting_words(const GroupLine& group, const std::optional<double>& at_s) {
    return "entitled to " + percent(group.entitled) + (at_s ? "; at its share in " + span_text(*at_s) : "");
}

void draw_usage_line(Svg& svg, const UsageLine& line, const Axis& x, const Axis& y, const std::string& classes) {
    Points points;
    for (const auto& [at, used] : line) {
        points.emplace_back(x.at(at), y.at(used * 100));
    }
    svg.path(points, classes);
}

void draw_panel(Svg& svg, const GroupLine& group, const Axis& x, const Axis& y) {
    const std::size_t series = group.used > group.entitled ? 1 : 0;
    const auto meets = meeting(group.ahead, group.entitled);
    svg.open({{"path", group.name},
              {"entitled", exact(group.entitled)},
              {"used", exact(group.used)},
              {"meets-s", meets ? exact(*meets) : ""}},
             group.name + " " + (group.used > group.entitled ? "is above its share" : "is within its share"));
    const std::string used = percent(group.used) + " used";
    const double room = x.to - x.from - 7 * static_cast<double>(columns(used));
    svg.text(x.from, y.to - 24, clipped(group.name, static_cast<std::size_t>(std::max(room / 8, 3.))), "bold");
    svg.text(x.to, y.to - 24, used, "end");
    svg.text(x.from, y.to - 9, meeting_words(group, meets), "faint");
    for (const Tick& tick : y.ticks) {
        svg.line(x.from, y.at(tick.at), x.to, y.at(tick.at), "grid");
    }
    svg.line(x.at(0), y.from, x.at(0), y.to, "rule");
    svg.line(x.from, y.at(group.entitled * 100), x.to, y.at(group.entitled * 100), "due");
    draw_usage_line(svg, group.past, x, y, "past " + series_class(series));
    draw_usage_line(svg, group.ahead, x, y, "ahead " + series_class(series));
    if (meets) {
        svg.mark(x.at(*meets), y.at(group.entitled * 100), series, "at its share in " + span_text(*meets));
    }
    const double now = x.at(0);
    if (now - x.from > 60) {
        svg.text(x.from, y.from + 15, span_text(x.low) + " ago", "faint");
    }
    svg.text(now, y.from + 15, "now", "faint middle");
    svg.text(x.to, y.from + 15, "in " + span_text(x.high), "faint end");
    svg.close();
}

}  // namespace

std::string forgetting_picture(const std::vector<GroupLine>& all) {
    const std::vector<GroupLine> groups(all.begin(),
                                        all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), groups_max)));
    double since = 0, until = 1, high = .05;
    std::string words;
    for (const GroupLine& group : groups) {
        since = group.past.empty() ? since : std::min(since, group.past.front().first);
        until = group.ahead.empty() ? until : std::max(until, group.ahead.back().first);
        high = std::max({high, group.used, group.entitled});
        for (const UsageLine* line : {&group.past, &group.ahead}) {
            for (std::size_t i = 0; i < line->size(); ++i) {
                high = std::max(high, (*line)[i].second);
            }
        }
        words += (words.empty() ? "" : "; ") + group.name + " used " + percent(group.used) + ", " +
                 meeting_words(group, meeting(group.ahead, group.entitled));
    }
    const std::size_t rows = (groups.size() + 2) / 3;
    Svg svg("forgetting", panels_width, panel_height * static_cast<double>(rows) + 6, "How usage is forgotten",
            words + ".");
    const auto ticks = round_ticks(0, high * 100, 4, " %");
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const std::size_t row = i / 3;
        const double x0 = panels_left + panel_width * static_cast<double>(i % 3),
                     y0 = panel_height * static_cast<double>(row);
        const Axis x{since, until, x0, x0 + panel_width - 24, 0, {}};
        const Axis y{0, std::max(high * 100, ticks.back().at), y0 + panel_height - 24, y0 + 40, 0, ticks};
        for (const Tick& tick : y.ticks) {
            if (i % 3 == 0) {
                svg.text(x.from - 6, y.at(tick.at) + 4, tick.label, "faint end");
            }
        }
        draw_panel(svg, groups[i], x, y);
    }
    return svg.str();
}

}  // namespace weir::cmd
