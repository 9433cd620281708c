// SPDX-License-Identifier: LGPL-3.0-only
// Owns: reading the labels, lines and curves of a picture, and finding labels that a line crosses or that lie on each
// other or outside of the picture. Widths of letters are estimates for a sans-serif font.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <regex>
#include <string>
#include <vector>

#include "cmd/common/text.hpp"

namespace weir::test {

struct Box {
    double left, top, right, bottom;
    std::string words;
};
struct Stroke {
    double x1, y1, x2, y2;
};

inline double attribute_of(const std::string& element, const std::string& name) {
    std::smatch found;
    return std::regex_search(element, found, std::regex(" " + name + "=\"([-0-9.]+)\""))
               ? std::atof(found[1].str().c_str())
               : 0;
}

inline bool has_class(const std::string& element, const std::string& name) {
    return std::regex_search(element, std::regex("class=\"([^\"]* )?" + name + "( [^\"]*)?\""));
}

inline std::vector<Box> labels_of(const std::string& svg) {
    std::vector<Box> boxes;
    const std::regex pattern("<text([^>]*)>([^<]*)</text>");
    for (auto it = std::sregex_iterator(svg.begin(), svg.end(), pattern); it != std::sregex_iterator(); ++it) {
        const std::string attributes = (*it)[1],
                          words = std::regex_replace((*it)[2].str(), std::regex("&[a-z]+;"), "x");
        const bool is_small = has_class(attributes, "faint"), is_bold = has_class(attributes, "bold");
        const double wide = static_cast<double>(cmd::columns(words)) * (is_small ? 6.2 : 6.8) * (is_bold ? 1.1 : 1);
        const double x = attribute_of(attributes, "x"), y = attribute_of(attributes, "y");
        const double left = has_class(attributes, "end")      ? x - wide
                            : has_class(attributes, "middle") ? x - wide / 2
                                                              : x;
        boxes.push_back({left, y - 8, left + wide, y + 1, words});
    }
    return boxes;
}

/// Lines, and the pieces of curves in absolute coordinates; not the shapes of marks.
inline std::vector<Stroke> strokes_of(const std::string& svg) {
    std::vector<Stroke> strokes;
    const std::regex line("<line[^>]*>"), path("<path d=\"M([-0-9.L ]*)\" class=\"curve[^>]*>"), number("[-0-9.]+");
    for (auto it = std::sregex_iterator(svg.begin(), svg.end(), line); it != std::sregex_iterator(); ++it) {
        const std::string e = it->str();
        strokes.push_back({attribute_of(e, "x1"), attribute_of(e, "y1"), attribute_of(e, "x2"), attribute_of(e, "y2")});
    }
    for (auto it = std::sregex_iterator(svg.begin(), svg.end(), path); it != std::sregex_iterator(); ++it) {
        const std::string points = (*it)[1];
        std::vector<double> at;
        for (auto n = std::sregex_iterator(points.begin(), points.end(), number); n != std::sregex_iterator(); ++n) {
            at.push_back(std::atof(n->str().c_str()));
        }
        for (std::size_t i = 2; i + 1 < at.size(); i += 2) {
            strokes.push_back({at[i - 2], at[i - 1], at[i], at[i + 1]});
        }
    }
    return strokes;
}

inline bool crosses(const Stroke& stroke, const Box& box) {
    double from = 0, to = 1;  // Liang and Barsky: the part of the stroke inside the box
    const double dx = stroke.x2 - stroke.x1, dy = stroke.y2 - stroke.y1;
    const double p[] = {-dx, dx, -dy, dy};
    const double q[] = {stroke.x1 - box.left, box.right - stroke.x1, stroke.y1 - box.top, box.bottom - stroke.y1};
    for (int i = 0; i < 4; ++i) {
        if (p[i] == 0) {
            if (q[i] < 0) {
                return false;
            }
        } else if (p[i] < 0) {
            from = std::max(from, q[i] / p[i]);
        } else {
            to = std::min(to, q[i] / p[i]);
        }
    }
    return from < to;
}

/// A sentence for each label that cannot be read; empty if all can.
inline std::vector<std::string> unreadable_labels(const std::string& svg) {
    std::vector<std::string> found;
    std::smatch size;
    std::regex_search(svg, size, std::regex("viewBox=\"0 0 ([0-9.]+) ([0-9.]+)\""));
    const double width = std::atof(size[1].str().c_str()), height = std::atof(size[2].str().c_str());
    const auto boxes = labels_of(svg);
    const auto strokes = strokes_of(svg);
    for (std::size_t i = 0; i < boxes.size(); ++i) {
        const Box& box = boxes[i];
        if (box.left < 0 || box.top < 0 || box.right > width || box.bottom > height) {
            found.push_back("\"" + box.words + "\" is outside");
        }
        for (const Stroke& stroke : strokes) {
            if (crosses(stroke, box)) {
                found.push_back("\"" + box.words + "\" is crossed");
                break;
            }
        }
        for (std::size_t j = 0; j < i; ++j) {
            const Box& other = boxes[j];
            if (box.left < other.right && other.left < box.right && box.top < other.bottom && other.top < box.bottom) {
                found.push_back("\"" + box.words + "\" lies on \"" + other.words + "\"");
            }
        }
    }
    return found;
}

}  // namespace weir::test
