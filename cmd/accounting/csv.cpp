// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see csv.hpp.
#include "cmd/accounting/csv.hpp"

#include <limits>
#include <string_view>
#include <utility>

#include "cmd/common/text.hpp"

namespace weir::cmd {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";  // spreadsheets write it in front

struct CsvLine {
    std::size_t number = 1;  ///< of its first line, where a cell has newlines
    std::vector<std::string> cells;
};

struct CsvText {
    std::vector<CsvLine> lines;       ///< those that are not blank
    std::size_t open_quote_line = 0;  ///< of a quote that is not closed; 0: there is none
};

CsvText csv_cells(const std::string& text) {
    CsvText made;
    CsvLine line;
    std::string cell;
    bool is_quoted = false;
    std::size_t number = 1;
    const auto end_line = [&] {
        line.cells.push_back(std::exchange(cell, {}));
        const bool is_blank = line.cells.size() == 1 && line.cells.front().empty();
        if (!is_blank) {
            made.lines.push_back(line);
        }
        line = CsvLine{number + 1, {}};
    };
    for (std::size_t at = text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0; at < text.size(); ++at) {
        const char c = text[at];
        if (is_quoted) {
            if (c != '"') {
                cell += c;
            } else if (at + 1 < text.size() && text[at + 1] == '"') {
                cell += text[++at];
            } else {
                is_quoted = false;
            }
        } else if (c == '"') {
            is_quoted = true;
            made.open_quote_line = number;
        } else if (c == ',') {
            line.cells.push_back(std::exchange(cell, {}));
        } else if (c == '\n') {
            end_line();
        } else if (c != '\r') {
            cell += c;
        }
        number += c == '\n' ? 1 : 0;
    }
    end_line();
    made.open_quote_line = is_quoted ? made.open_quote_line : 0;
    return made;
}

}  // namespace

std::string csv_line(const std::vector<std::string>& cells) {
    std::string line;
    for (const std::string& cell : cells) {
        line += line.empty() && &cell == &cells.front() ? "" : ",";
        if (cell.find_first_of(",\"\r\n") == std::string::npos) {
            line += cell;
            continue;
        }
        line += '"';
        for (const char c : cell) {
            line += c == '"' ? "\"\"" : std::string(1, c);
        }
        line += '"';
    }
    return line + "\n";
}

std::string CsvRow::text(const std::string& column) const {
    const auto found = columns_->find(column);
    return found == columns_->end() ? "" : cells_.at(found->second);
}

Result<std::int64_t> CsvRow::integer(const std::string& column, std::int64_t otherwise) const {
    const std::string written = text(column);
    if (written.empty()) {
        return otherwise;
    }
    const auto number = parse_integer(written, 0, std::numeric_limits<std::int64_t>::max());
    return number ? Result<std::int64_t>(*number)
                  : Error{std::errc::invalid_argument,
                          place() + ": " + column + " is \"" + printable(written) + "\", not a whole number from 0"};
}

Result<std::vector<CsvRow>> read_csv(const std::string& text, const std::string& name,
                                     const std::vector<std::string>& wanted) {
    const auto [lines, open_quote_line] = csv_cells(text);
    if (open_quote_line != 0) {
        return Error{std::errc::invalid_argument, CsvRow::place_in(name, open_quote_line) + ": a quote is not closed"};
    }
    if (lines.empty()) {
        return Error{std::errc::invalid_argument, name + ": there is no line with the names of the columns"};
    }
    auto columns = std::make_shared<CsvRow::Columns>();
    for (const std::string& column : lines.front().cells) {
        columns->emplace(column, columns->size());
    }
    for (const std::string& column : wanted) {
        if (columns->count(column) == 0) {
            return Error{std::errc::invalid_argument, name + ": there is no column \"" + column + "\""};
        }
    }
    std::vector<CsvRow> rows;
    for (std::size_t i = 1; i < lines.size(); ++i) {
        const auto& [number, cells] = lines[i];
        if (cells.size() != lines.front().cells.size() || columns->size() != cells.size()) {
            return Error{std::errc::invalid_argument, CsvRow::place_in(name, number) + ": " +
                                                          std::to_string(cells.size()) + " cells, not " +
                                                          std::to_string(columns->size())};
        }
        rows.emplace_back(name, number, columns, cells);
    }
    return rows;
}

}  // namespace weir::cmd
