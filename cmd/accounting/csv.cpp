// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see csv.hpp.
#include "cmd/accounting/csv.hpp"

#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "cmd/common/text.hpp"

namespace weir::cmd {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";  // spreadsheets write it in front

/// The lines of a table as cells; nothing if a quote is not closed.
std::optional<std::vector<std::vector<std::string>>> csv_cells(const std::string& text) {
    std::vector<std::vector<std::string>> lines;
    std::vector<std::string> line;
    std::string cell;
    bool is_quoted = false;
    const auto end_line = [&] {
        line.push_back(std::exchange(cell, {}));
        const bool is_blank = line.size() == 1 && line.front().empty();
        if (!is_blank) {
            lines.push_back(line);
        }
        line.clear();
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
        } else if (c == ',') {
            line.push_back(std::exchange(cell, {}));
        } else if (c == '\n') {
            end_line();
        } else if (c != '\r') {
            cell += c;
        }
    }
    end_line();
    return is_quoted ? std::nullopt : std::optional(std::move(lines));
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
                          place_ + ": " + column + " is \"" + printable(written) + "\", not a whole number from 0"};
}

Result<std::vector<CsvRow>> read_csv(const std::string& text, const std::string& name,
                                     const std::vector<std::string>& wanted) {
    const auto lines = csv_cells(text);
    if (!lines || lines->empty()) {
        return Error{std::errc::invalid_argument,
                     name + (lines ? ": there is no line with the names of the columns" : ": a quote is not closed")};
    }
    auto columns = std::make_shared<CsvRow::Columns>();
    for (const std::string& column : lines->front()) {
        columns->emplace(column, columns->size());
    }
    for (const std::string& column : wanted) {
        if (columns->count(column) == 0) {
            return Error{std::errc::invalid_argument, name + ": there is no column \"" + column + "\""};
        }
    }
    std::vector<CsvRow> rows;
    for (std::size_t i = 1; i < lines->size(); ++i) {
        const std::string place = name + ", row " + std::to_string(i);
        const std::vector<std::string>& cells = (*lines)[i];
        if (cells.size() != lines->front().size() || columns->size() != cells.size()) {
            return Error{std::errc::invalid_argument, place + ": " + std::to_string(cells.size()) + " cells, not " +
                                                          std::to_string(columns->size())};
        }
        rows.emplace_back(place, columns, cells);
    }
    return rows;
}

}  // namespace weir::cmd
