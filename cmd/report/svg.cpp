// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the elements' text. Pixels have one decimal, so that equal pictures are equal bytes. Colours are those of Okabe
// and Ito 2008, which people with any colour vision can distinguish, each with a dash of its own.
#include "cmd/report/svg.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "cmd/common/text.hpp"

namespace weir::cmd {
namespace {

std::string px(double value) {
    std::string text = fixed(value, 1);
    if (text.size() > 2 && text.compare(text.size() - 2, 2, ".0") == 0) {
        text.resize(text.size() - 2);
    }
    return text == "-0" ? "0" : text;
}
std::string attribute(const char* name, double value) {
    return std::string(" ") + name + "=\"" + px(value) + "\"";
}
std::string class_attribute(const std::string& classes) {
    return classes.empty() ? "" : " class=\"" + classes + "\"";
}
std::string with_hint(const std::string& element, const std::string& tag, const std::string& hint) {
    return hint.empty() ? element + "/>\n" : element + "><title>" + escaped(hint) + "</title></" + tag + ">\n";
}

std::string points_text(const Points& points) {
    std::string text;
    for (const auto& [x, y] : points) {
        text += (text.empty() ? "M" : "L") + px(x) + " " + px(y);
    }
    return text;
}

/// Around (0, 0), as relative path commands: circle-like, square, triangle, diamond, cross, star of bars, down
/// triangle, bar.
constexpr std::array<const char*, series_max> shapes = {"m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
                                                        "m-3.5 -3.5h7v7h-7z",
                                                        "m0 -4.5l4.5 8h-9z",
                                                        "m0 -5l5 5l-5 5l-5 -5z",
                                                        "m-4 -4l8 8m0 -8l-8 8",
                                                        "m-4.5 0h9m-4.5 -4.5v9",
                                                        "m0 4.5l4.5 -8h-9z",
                                                        "m-1.5 -4.5h3v9h-3z"};

constexpr const char* svg_style = R"(
:root{color-scheme:light dark;--bg:#fff;--fg:#1a1d21;--line:#8888884d;
--c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#aa4c86;--c4:#b07c00;--c5:#3a93c9;--c6:#555;--c7:#7a5230}
@media(prefers-color-scheme:dark){:root{--bg:#15181c;--fg:#e6e8ea;
--c0:#56b4e9;--c1:#ff8c3a;--c2:#2fc79a;--c3:#e39cc6;--c4:#f0c23c;--c5:#9ad1f2;--c6:#aaa;--c7:#c9a27e}}
svg{display:block;width:100%;height:auto;fill:currentColor;font-size:12px}
.grid{stroke:var(--line)}.rule{stroke:currentColor;opacity:.55}.due{stroke:currentColor;stroke-dasharray:5 4}
.faint{opacity:.75;font-size:11px}.bold{font-weight:600}.end{text-anchor:end}.middle{text-anchor:middle}
.curve{fill:none;stroke-width:1.8;stroke-linejoin:round}.mark{stroke-width:1.6}.area{stroke:none;fill-opacity:.3}
.job{fill-opacity:.55;stroke:var(--bg);stroke-width:.6}.other{fill:currentColor;fill-opacity:.2}.on{font-size:10px}
)";

/// Colours and dashes of the series, and classes that overrule them.
std::string series_style() {
    static constexpr const char* dashes[series_max] = {"none", "7 3",  "2 2.5", "9 3 2 3",
                                                       "4 4",  "12 3", "1 4",   "6 2 1 2 1 2"};
    std::string css;
    for (std::size_t i = 0; i < series_max; ++i) {
        const std::string n = std::to_string(i);
        css += ".s" + n + "{stroke:var(--c" + n + ");fill:var(--c" + n + ")}.curve.s" + n +
               "{fill:none;stroke-dasharray:" + dashes[i] + "}\n";
    }
    return css +
           ".mark{stroke-dasharray:none}.job{stroke:var(--bg)}.thin,.area,.bar{stroke:none}\n"
           ".back{fill:var(--line)}.tick{stroke:currentColor;stroke-width:2.4}.box{stroke:var(--line);fill-opacity:.12}"
           "\n"
           ".curve.past{stroke-dasharray:none}.curve.ahead{stroke-dasharray:2 3}.left{fill:none;stroke-dasharray:3 "
           "2}\n";
}

}  // namespace

std::string picture_style() {
    return svg_style + series_style();
}

std::string standalone(const std::string& svg) {
    const std::size_t head = svg.find('>');
    return svg.substr(0, head) + " xmlns=\"http://www.w3.org/2000/svg\">\n<style>" + picture_style() +
           "svg{background:var(--bg);color:var(--fg);font-family:system-ui,\"DejaVu Sans\",sans-serif}</style>" +
           svg.substr(head + 1);
}

std::string picture_id(const std::string& svg) {
    const std::size_t from = svg.find('"') + 1;
    return svg.substr(from, svg.find('"', from) - from);
}

std::string exact(double value) {
    std::array<char, 64> buffer;
    return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr};
}

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '&':
                out += "&amp;";
                break;
            case '"':
                out += "&quot;";
                break;
            default:
                if (static_cast<unsigned char>(c) >= 0x20) {
                    out += c;
                }
        }
    }
    return out;
}

double Axis::at(double value) const {
    const auto scaled = [&](double v) { return bend > 0 ? std::log10(1 + v / bend) : v; };
    const double span = scaled(high) - scaled(low);
    const double part = span > 0 ? (scaled(value) - scaled(low)) / span : 0;
    return from + (to - from) * std::clamp(part, 0., 1.);
}

std::vector<Tick> round_ticks(double low, double high, int count, const std::string& unit) {
    const double rough = (high - low) / std::max(count, 1);
    if (!(rough > 0) || !std::isfinite(rough)) {
        return {{low, fixed(low, 0) + unit}};
    }
    const double power = std::pow(10., std::floor(std::log10(rough)));
    const double lead = rough / power;
    const double step = power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
    const int decimals = step >= 1 ? 0 : static_cast<int>(std::ceil(-std::log10(step) - 1e-9));
    std::vector<Tick> ticks;
    for (double i = std::ceil(low / step - 1e-9); i * step <= high + step * 1e-9; ++i) {
        const double at = i * step;
        const std::string number =
            decimals == 0 ? grouped(static_cast<std::int64_t>(std::llround(at))) : fixed(at, decimals);
        ticks.push_back({at, number + unit});
    }
    return ticks;
}

std::vector<Tick> duration_ticks(double high_s) {
    static const std::vector<Tick> all = {{0, "0"},
                                          {10, "10 s"},
                                          {60, "1 min"},
                                          {600, "10 min"},
                                          {3600, "1 h"},
                                          {6 * 3600, "6 h"},
                                          {86400, "1 d"},
                                          {7 * 86400., "7 d"},
                                          {30 * 86400., "30 d"},
                                          {120 * 86400., "120 d"},
                                          {365 * 86400., "1 y"},
                                          {3650 * 86400., "10 y"}};
    std::vector<Tick> ticks;
    for (const Tick& tick : all) {
        if (tick.at <= high_s) {
            ticks.push_back(tick);
        }
    }
    return ticks;
}

std::string series_class(std::size_t series) {
    return "s" + std::to_string(series % series_max);
}

Svg::Svg(std::string id, double width, double height, const std::string& title, const std::string& alternative) {
    text_ = "<svg id=\"" + id + "\" viewBox=\"0 0 " + px(width) + " " + px(height) +
            "\" role=\"img\" aria-labelledby=\"" + id + "-t " + id + "-d\">\n<title id=\"" + id + "-t\">" +
            escaped(title) + "</title>\n<desc id=\"" + id + "-d\">" + escaped(alternative) + "</desc>\n";
}

void Svg::open(const std::vector<std::pair<std::string, std::string>>& data, const std::string& hint) {
    text_ += "<g";
    for (const auto& [name, value] : data) {
        text_ += " data-" + name + "=\"" + escaped(value) + "\"";
    }
    text_ += ">" + (hint.empty() ? "" : "<title>" + escaped(hint) + "</title>") + "\n";
}

void Svg::open_link(const std::string& address, const std::string& name) {
    // Screen readers do not see the inside of an image.
    const std::string image = "role=\"img\"";
    if (const std::size_t at = text_.find(image); at != std::string::npos) {
        text_.replace(at, image.size(), "role=\"group\"");
    }
    text_ += "<a href=\"" + escaped(address) + "\" aria-label=\"" + escaped(name) + "\">\n";
}

void Svg::line(double x1, double y1, double x2, double y2, const std::string& classes) {
    text_ += "<line" + attribute("x1", x1) + attribute("y1", y1) + attribute("x2", x2) + attribute("y2", y2) +
             class_attribute(classes) + "/>\n";
}

void Svg::rect(const Box& box, const std::string& classes, const std::string& hint) {
    text_ += with_hint("<rect" + attribute("x", box.x) + attribute("y", box.y) + attribute("width", box.width) +
                           attribute("height", box.height) + class_attribute(classes),
                       "rect", hint);
}

void Svg::text(double x, double y, const std::string& words, const std::string& classes) {
    text_ +=
        "<text" + attribute("x", x) + attribute("y", y) + class_attribute(classes) + ">" + escaped(words) + "</text>\n";
}

void Svg::path(const Points& points, const std::string& classes) {
    if (!points.empty()) {
        text_ += "<path d=\"" + points_text(points) + "\"" + class_attribute("curve " + classes) + "/>\n";
    }
}

void Svg::area(const Points& points, double base, const std::string& classes) {
    if (!points.empty()) {
        text_ += "<path d=\"" + points_text(points) + "V" + px(base) + "H" + px(points.front().first) + "z\"" +
                 class_attribute("area " + classes) + "/>\n";
    }
}

void Svg::mark(double x, double y, std::size_t series, const std::string& hint) {
    text_ += with_hint("<path d=\"M" + px(x) + " " + px(y) + shapes[series % series_max] + "\"" +
                           class_attribute("mark " + series_class(series)),
                       "path", hint);
}

void Svg::axes(const Axis& x, const Axis& y) {
    for (const Tick& tick : y.ticks) {
        const double at = y.at(tick.at);
        line(x.from, at, x.to, at, "grid");
        text(x.from - 6, at + 4, tick.label, "faint end");
    }
    double free_from = -1e9;  // labels do not run into each other
    for (const Tick& tick : x.ticks) {
        const double at = x.at(tick.at);
        const double half = static_cast<double>(columns(tick.label)) * 3.2;
        line(at, y.from, at, y.from + 4, "rule");
        if (at - half > free_from) {
            text(at, y.from + 16, tick.label, "faint middle");
            free_from = at + half + 4;
        }
    }
    line(x.from, y.from, x.to, y.from, "rule");
    line(x.from, y.from, x.from, y.to, "rule");
}

void Svg::curve(const Axis& x, const Axis& y, const Points& values, std::size_t series) {
    Points pixels;
    for (const auto& [a, b] : values) {
        pixels.emplace_back(x.at(a), y.at(b));
    }
    path(pixels, series_class(series));
    for (std::size_t i = 1; i <= 3 && pixels.size() > 8; ++i) {
        // Shifted from series to series, so that curves that lie on each other still show all their marks.
        const std::size_t at = (pixels.size() * (i * series_max + series % series_max)) / (4 * series_max);
        mark(pixels[std::min(at, pixels.size() - 1)].first, pixels[std::min(at, pixels.size() - 1)].second, series);
    }
}

double Svg::legend(double x, double y, double width, const std::vector<std::string>& names) {
    double at = x, row = y;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const double length = 44 + static_cast<double>(columns(names[i])) * 7;
        if (at > x && at + length > x + width) {
            at = x;
            row += 18;
        }
        path({{at, row}, {at + 28, row}}, series_class(i));
        mark(at + 14, row, i);
        text(at + 34, row + 4, names[i]);
        at += length;
    }
    return row - y + 18;
}

}  // namespace weir::cmd
