// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the places that are tried, and in which order.
#include "cmd/report/labels.hpp"

#include <algorithm>

#include "cmd/common/text.hpp"

namespace weir::cmd {
namespace {

constexpr double letter_width = 7, above_base = 9, below_base = 2;  // of a text of 12 pixels
constexpr double label_beside = 9;                                  // from the mark to the text
constexpr double label_step = 3, label_farthest = 30;

}  // namespace

void LabelPlaces::add_line(double x1, double y1, double x2, double y2) {
    lines_.push_back({std::min(x1, x2), std::min(y1, y2), std::max(x1, x2), std::max(y1, y2)});
}

bool LabelPlaces::is_free(const Box& box) const {
    const auto touches = [&](const Box& other) {
        return box.left < other.right + 1 && other.left < box.right + 1 && box.top < other.bottom &&
               other.top < box.bottom;
    };
    return box.left >= 0 && box.right <= width_ && std::none_of(lines_.begin(), lines_.end(), touches) &&
           std::none_of(labels_.begin(), labels_.end(), touches);
}

LabelPlace LabelPlaces::place(double x, double y, const std::string& words) {
    const double wide = static_cast<double>(columns(words)) * letter_width;
    const auto box_at = [&](const LabelPlace& at) {
        const double from = at.is_end ? at.x - wide : at.x;
        return Box{from, at.y - above_base, from + wide, at.y + below_base};
    };
    const LabelPlace usual = x + label_beside + wide <= width_ ? LabelPlace{x + label_beside, y - 6, false}
                                                               : LabelPlace{x - label_beside, y - 6, true};
    for (double away = 0; away <= label_farthest; away += label_step) {
        for (const double base : {y - 6 - away, y + 14 + away}) {
            for (const bool is_end : {usual.is_end, !usual.is_end}) {
                const LabelPlace at{is_end ? x - label_beside : x + label_beside, base, is_end};
                if (is_free(box_at(at))) {
                    labels_.push_back(box_at(at));
                    return at;
                }
            }
        }
    }
    labels_.push_back(box_at(usual));
    return usual;
}

}  // namespace weir::cmd
