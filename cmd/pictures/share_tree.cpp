// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the layout of picture 1.
#include "cmd/pictures/share_tree.hpp"

#include <algorithm>

#include "cmd/common/text.hpp"
#include "cmd/report/svg.hpp"

namespace weir::cmd {
namespace {

constexpr double tree_width = 940, tree_row = 24, tree_head = 24;
constexpr double shares_at = 178, tree_bar_from = 188, tree_bar_to = 560, figures_at = 576, ratio_at = 700,
                 past_from = 770, past_to = 930;

std::size_t depth_of(const std::string& path) {
    return static_cast<std::size_t>(std::count(path.begin(), path.end(), '/'));
}

std::string last_part(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}

bool is_above_share(const ShareRow& row) {
    return row.used > row.entitled;
}

/// The line of a row's past around its share, which lies in the middle.
void draw_past(Svg& svg, const ShareRow& row, double middle) {
    svg.line(past_from, middle, past_to, middle, "grid");
    if (row.past.empty() || row.entitled <= 0) {
        return;
    }
    const Axis x{row.past.front().first, 0, past_from, past_to, 0, {}};
    const Axis y{0, 2 * row.entitled, middle + 9, middle - 9, 0, {}};
    Points points;
    for (const auto& [at, used] : row.past) {
        points.emplace_back(x.at(at), y.at(used));
    }
    svg.path(points, "past " + series_class(is_above_share(row) ? 1 : 0));
}

void draw_share_row(Svg& svg, const ShareRow& row, double top, const Axis& x, bool has_past) {
    const std::size_t depth = depth_of(row.path);
    const double indent = 8 + 14 * static_cast<double>(std::min<std::size_t>(depth, 6));
    const bool is_account = last_part(row.path).front() != '@';
    const double base = top + 15;
    svg.open({{"path", row.path},
              {"entitled", exact(row.entitled)},
              {"used", exact(row.used)},
              {"usage-core-s", exact(row.usage_core_s)}},
             row.path + " " + standing_words(row.used, row.entitled));
    const std::string shares = std::to_string(row.shares);
    const double room = shares_at - 10 - 7 * static_cast<double>(shares.size()) - indent;
    svg.text(indent, base, clipped(last_part(row.path), static_cast<std::size_t>(std::max(room / 7.6, 3.))),
             is_account ? "bold" : "");
    svg.text(shares_at, base, shares, "faint end");
    svg.rect({tree_bar_from, top + 5, tree_bar_to - tree_bar_from, 13}, "back");
    svg.rect({tree_bar_from, top + 5, x.at(row.used) - tree_bar_from, 13},
             "bar " + series_class(is_above_share(row) ? 1 : 0));
    svg.line(x.at(row.entitled), top + 1.5, x.at(row.entitled), top + 21.5, "tick");
    svg.text(figures_at, base, fixed(row.used * 100, 1) + " / " + fixed(row.entitled * 100, 1) + " %");
    svg.text(ratio_at, base, row.entitled > 0 ? ratio(row.used / row.entitled) : "-", "bold");
    if (has_past) {
        draw_past(svg, row, top + 11.5);
    }
    svg.close();
}

}  // namespace

std::string standing_words(double used, double entitled) {
    if (entitled <= 0) {
        return used > 0 ? "has no share and used " + percent(used) : "has no share";
    }
    return "used " + ratio(used / entitled) + " its share: " + percent(used) + " of " + percent(entitled);
}

std::vector<std::size_t> most_telling(const std::vector<ShareRow>& rows, std::size_t most) {
    std::vector<std::size_t> places(rows.size());
    std::vector<std::size_t> depths(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        places[i] = i;
        depths[i] = depth_of(rows[i].path);
    }
    const auto weight = [&](std::size_t i) { return std::max(rows[i].used, rows[i].entitled); };
    std::stable_sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
        return depths[a] != depths[b] ? depths[a] < depths[b] : weight(a) > weight(b);
    });
    places.resize(std::min(places.size(), most));
    std::sort(places.begin(), places.end());
    return places;
}

std::string share_tree_picture(const std::vector<ShareRow>& rows, const std::string& past_words) {
    double full = 0.05;
    std::string words;
    for (const ShareRow& row : rows) {
        full = std::max({full, row.used, row.entitled});
        if (depth_of(row.path) == 0) {
            words += (words.empty() ? "" : "; ") + row.path + " " + standing_words(row.used, row.entitled);
        }
    }
    const Axis x{0, full, tree_bar_from, tree_bar_to, 0, {}};
    const bool has_past = !past_words.empty();
    Svg svg("share-tree", tree_width, tree_head + tree_row * static_cast<double>(rows.size()) + 6,
            "Usage against entitlement", words + ".");
    svg.text(shares_at, 14, "shares", "faint end");
    svg.text(tree_bar_from, 14, "0 %", "faint");
    svg.text(tree_bar_to, 14, percent(full) + " of the machine", "faint end");
    svg.text(figures_at, 14, "used / entitled", "faint");
    svg.text(ratio_at, 14, "ratio", "faint");
    if (has_past) {
        svg.text(past_from, 14, "the last " + past_words, "faint");
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
        draw_share_row(svg, rows[i], tree_head + tree_row * static_cast<double>(i), x, has_past);
    }
    return svg.str();
}

}  // namespace weir::cmd
