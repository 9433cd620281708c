// SPDX-License-Identifier: LGPL-3.0-only
// Owns: where a label stands beside its mark, so that no line crosses it and no other label lies on it. Pure geometry
// in pixels; widths of letters are estimates for a sans-serif font of 12 pixels. Must not know what is labelled.
#pragma once
#include <string>
#include <vector>

namespace weir::cmd {

struct LabelPlace {
    double x = 0, y = 0;  ///< of the text's anchor on its base line
    bool is_end = false;  ///< the anchor is the text's end
};

class LabelPlaces {
  public:
    /// Labels stay between 0 and `width`.
    explicit LabelPlaces(double width) : width_(width) {}
    void add_line(double x1, double y1, double x2, double y2);
    /// Beside (x, y): right or left, as little above or below it as is free; above on the right where nothing is. Later
    /// labels avoid this one. O(lines + labels) for each of about 40 places.
    LabelPlace place(double x, double y, const std::string& words);

  private:
    struct Box {
        double left, top, right, bottom;
    };
    bool is_free(const Box& box) const;

    double width_;
    std::vector<Box> lines_;  ///< axis-parallel: degenerate boxes
    std::vector<Box> labels_;
};

}  // namespace weir::cmd
