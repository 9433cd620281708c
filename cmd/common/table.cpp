// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the widths of a table: natural, then cut, then dropped.
#include "cmd/common/table.hpp"

#include <algorithm>
#include <numeric>

namespace weir::cmd {
namespace {

constexpr std::size_t gap = 2;

struct Layout {
    std::vector<std::size_t> shown;   // indices of columns, in order
    std::vector<std::size_t> widths;  // by column index
    std::size_t total() const {
        std::size_t sum = shown.empty() ? 0 : gap * (shown.size() - 1);
        for (const std::size_t c : shown) {
            sum += widths[c];
        }
        return sum;
    }
};

/// Takes columns off the widest column that may be cut, one at a time: the loss is shared.
void cut(Layout& layout, const std::vector<Column>& columns, std::size_t limit) {
    while (layout.total() > limit) {
        std::size_t widest = columns.size();
        for (const std::size_t c : layout.shown) {
            const bool may = columns[c].width_min > 0 && layout.widths[c] > columns[c].width_min;
            if (may && (widest == columns.size() || layout.widths[c] > layout.widths[widest])) {
                widest = c;
            }
        }
        if (widest == columns.size()) {
            return;
        }
        --layout.widths[widest];
    }
}

bool drop_one(Layout& layout, const std::vector<Column>& columns) {
    const auto worst = std::max_element(layout.shown.begin(), layout.shown.end(), [&](std::size_t a, std::size_t b) {
        return columns[a].drop_order < columns[b].drop_order;
    });
    if (worst == layout.shown.end() || columns[*worst].drop_order == 0) {
        return false;
    }
    layout.shown.erase(worst);
    return true;
}

}  // namespace

void Table::add(std::vector<std::string> row) {
    row.resize(columns_.size());
    for (std::string& cell : row) {
        cell = printable(cell);
    }
    rows_.push_back(std::move(row));
}

std::string Table::text(const Screen& screen, bool with_header) const {
    Layout natural;
    natural.shown.resize(columns_.size());
    std::iota(natural.shown.begin(), natural.shown.end(), std::size_t{0});
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        std::size_t width = with_header ? columns(columns_[c].title) : 0;
        for (const auto& row : rows_) {
            width = std::max(width, columns(row[c]));
        }
        natural.widths.push_back(width);
    }
    Layout layout = natural;
    if (screen.width > 0) {
        cut(layout, columns_, screen.width);
        while (layout.total() > screen.width && drop_one(layout, columns_)) {
            layout.widths = natural.widths;
            cut(layout, columns_, screen.width);
        }
    }
    const auto line = [&](auto cell_of) {
        std::string out;
        for (std::size_t i = 0; i < layout.shown.size(); ++i) {
            const std::size_t c = layout.shown[i];
            const std::string cell = clipped(cell_of(c), layout.widths[c], screen.glyphs);
            out += i == 0 ? "" : std::string(gap, ' ');
            out += columns_[c].align == Align::right ? padded_left(cell, layout.widths[c])
                                                     : padded_right(cell, layout.widths[c]);
        }
        return out.substr(0, out.find_last_not_of(' ') + 1);
    };
    std::string out;
    if (with_header) {
        out += styled(screen, "2", line([&](std::size_t c) { return columns_[c].title; })) + "\n";
    }
    for (const auto& row : rows_) {
        out += line([&](std::size_t c) { return row[c]; }) + "\n";
    }
    return out;
}

}  // namespace weir::cmd
