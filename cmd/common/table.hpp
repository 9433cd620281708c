// SPDX-License-Identifier: LGPL-3.0-only
// Owns: rows of text as a table that fits a width. Must not know what the cells mean.
#pragma once
#include <string>
#include <vector>

#include "cmd/common/terminal.hpp"

namespace weir::cmd {

enum class Align { left, right };

struct Column {
    std::string title;
    Align align = Align::left;
    /// If the table is too wide, columns with the highest number are dropped first; 0 is never dropped.
    int drop_order = 0;
    /// May be clipped to this width (0: never), before a column is dropped.
    std::size_t width_min = 0;
};

class Table {
  public:
    explicit Table(std::vector<Column> layout) : columns_(std::move(layout)) {}
    /// One cell for each column; missing cells are empty. Each is made printable(): most hold what some user chose.
    void add(std::vector<std::string> row);
    bool empty() const { return rows_.empty(); }
    /// Lines with no trailing blanks. `screen.width` 0: nothing is cut or dropped. The header is faint where colour is
    /// on.
    std::string text(const Screen& screen, bool with_header = true) const;

  private:
    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace weir::cmd
