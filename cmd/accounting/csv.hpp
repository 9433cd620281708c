// SPDX-License-Identifier: LGPL-3.0-only
// Owns: comma-separated tables whose first line names the columns. Must not know what is in them. Source: RFC 4180.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "libfairshare/base/result.hpp"

namespace weir::cmd {

/// One line, cells in quotes where they must be, with its newline.
std::string csv_line(const std::vector<std::string>& cells);

class CsvRow {
  public:
    using Columns = std::map<std::string, std::size_t>;
    CsvRow(std::string table, std::size_t line, std::shared_ptr<const Columns> columns, std::vector<std::string> cells)
        : table_(std::move(table)), line_(line), columns_(std::move(columns)), cells_(std::move(cells)) {}
    /// The line of the text where it begins; the first is 1.
    std::size_t line() const { return line_; }
    /// "bank_table.csv, line 3".
    std::string place() const { return place_in(table_, line_); }
    static std::string place_in(const std::string& table, std::size_t line) {
        return table + ", line " + std::to_string(line);
    }
    /// Empty where there is no such column, or nothing in it.
    std::string text(const std::string& column) const;
    /// A whole number from 0; `otherwise` for an empty text. Errors: EINVAL with the place.
    Result<std::int64_t> integer(const std::string& column, std::int64_t otherwise) const;

  private:
    std::string table_;
    std::size_t line_;
    std::shared_ptr<const Columns> columns_;
    std::vector<std::string> cells_;
};

/// The rows below the first line. Cells may contain commas, quotes and newlines; lines end by LF or CRLF. A byte
/// order mark in front is skipped.
/// Errors: EINVAL with a sentence: a column of `wanted` is missing, a row has another number of cells, an open quote;
/// with the line where there is one.
Result<std::vector<CsvRow>> read_csv(const std::string& text, const std::string& name,
                                     const std::vector<std::string>& wanted);

}  // namespace weir::cmd
