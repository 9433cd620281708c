// SPDX-License-Identifier: LGPL-3.0-only
// Owns: pictures as SVG text for HTML pages: lines, areas, marks, words, axes. Colours are classes of the page's style
// sheet, which handles light and dark; series differ by colour, dash and mark. Pure.
// Must not know what is drawn.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::cmd {

/// `<`, `>`, `&` and quotes as entities; control characters left out.
std::string escaped(std::string_view text);
/// The shortest decimal text that reads back as the same number.
std::string exact(double value);
/// The style sheet of all pictures: the colours of light and dark, the classes. Pages include it once.
std::string picture_style();
/// A picture of Svg as a file of its own, for papers: with its namespace and its style sheet.
std::string standalone(const std::string& svg);
/// The id that it was made with: the name of its file.
std::string picture_id(const std::string& svg);

/// The number of distinguishable series; further ones wrap around.
inline constexpr std::size_t series_max = 8;

struct Tick {
    double at = 0;
    std::string label;
};

/// From values to pixels, linear or by log10(1 + value / bend), which is linear near 0.
struct Axis {
    double low = 0, high = 1;  ///< values
    double from = 0, to = 1;   ///< pixels
    double bend = 0;           ///< 0: linear
    std::vector<Tick> ticks;

    /// Clamped to the axis.
    double at(double value) const;
};
/// About `count` round values from 0 or `low` up to `high`; labels with `unit` behind the number.
std::vector<Tick> round_ticks(double low, double high, int count, const std::string& unit = "");
/// Those of 0, 10 s, 1 min, 10 min, 1 h, ... 1 y that are at most `high_s`.
std::vector<Tick> duration_ticks(double high_s);

using Points = std::vector<std::pair<double, double>>;
struct Box {
    double x, y;  ///< upper left corner
    double width, height;
};

class Svg {
  public:
    /// `id`: unique on the page. `title` names the picture, `alternative` describes it in words.
    Svg(std::string id, double width, double height, const std::string& title, const std::string& alternative);

    /// Opens a group, which lasts until close(). `data`: names and values of data-* attributes; `hint`: a title.
    void open(const std::vector<std::pair<std::string, std::string>>& data, const std::string& hint);
    void close() { text_ += "</g>\n"; }
    /// Opens a link, which lasts until close_link(), for pages with links; `name`: for screen readers.
    void open_link(const std::string& address, const std::string& name);
    void close_link() { text_ += "</a>\n"; }

    /// Classes: "grid", "rule", "faint", "bold", "end", "middle", "area", "sN" (series N).
    void line(double x1, double y1, double x2, double y2, const std::string& classes);
    void rect(const Box& box, const std::string& classes, const std::string& hint = "");
    void text(double x, double y, const std::string& words, const std::string& classes = "");
    /// Pixels.
    void path(const Points& points, const std::string& classes);
    /// Fills down to `base`.
    void area(const Points& points, double base, const std::string& classes);
    /// A shape of its own for each series.
    void mark(double x, double y, std::size_t series, const std::string& hint = "");

    /// Grid lines and labels of both axes, then the frame's lower and left rule.
    void axes(const Axis& x, const Axis& y);
    /// Values through the axes; the line's class is that of the series. Marks it at a few places.
    void curve(const Axis& x, const Axis& y, const Points& values, std::size_t series);
    /// Names beside their lines and marks, in rows from (x, y) on; the height that they took.
    double legend(double x, double y, double width, const std::vector<std::string>& names);

    /// The whole element.
    std::string str() const { return text_ + "</svg>\n"; }

  private:
    std::string text_;
};

/// "s3": the class of a series.
std::string series_class(std::size_t series);

}  // namespace weir::cmd
