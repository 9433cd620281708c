// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a table of the state file as a list of columns, and the reader and writer of one row by column name.
// Must not know: which tables there are (state_store_rows.cpp).
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "libfairshare/base/check.hpp"
#include "libfairshare/base/time.hpp"
#include "libfairshare/usage/usage_ledger.hpp"
#include "modules/job-priority/state/sqlite.hpp"

namespace weir::priority {

/// The columns that we read and write, named once for both directions.
struct StateTable {
    std::string_view name;
    std::array<std::string_view, 20> columns;  ///< the unused ones at the end are empty
    std::size_t keys = 0;         ///< the first so many columns are the primary key; 0: rows are only added
    std::string_view order = "";  ///< what rows are sorted by when they are read

    constexpr std::size_t size() const {
        std::size_t used = 0;
        while (used < columns.size() && !columns[used].empty()) {
            ++used;
        }
        return used;
    }
    std::string select_sql() const {
        std::string sql = "SELECT " + listed() + " FROM " + std::string(name);
        return order.empty() ? sql : sql + " ORDER BY " + std::string(order);
    }
    /// A row with the same key is replaced.
    std::string insert_sql() const {
        std::string places = "?";
        for (std::size_t i = 1; i < size(); ++i) {
            places += ",?";
        }
        return (keys > 0 ? "INSERT OR REPLACE INTO " : "INSERT INTO ") + std::string(name) + " (" + listed() +
               ") VALUES (" + places + ")";
    }
    std::string delete_sql() const {
        std::string sql = "DELETE FROM " + std::string(name) + " WHERE ";
        for (std::size_t i = 0; i < keys; ++i) {
            sql += (i == 0 ? "" : " AND ") + std::string(columns[i]) + "=?";
        }
        return sql;
    }

  private:
    std::string listed() const {
        std::string all;
        for (std::size_t i = 0; i < size(); ++i) {
            all += (i == 0 ? "" : ", ") + std::string(columns[i]);
        }
        return all;
    }
};

/// Reads the row where a statement of select_sql() stands. Job ids are 64-bit FLUIDs and SQLite's integers are signed:
/// the bits are the same. O(columns) a value.
class RowReader {
  public:
    RowReader(const SqliteStatement& row, const StateTable& table) : row_(row), table_(table) {}
    std::int64_t integer(std::string_view column) const { return row_.column_int(index(column)); }
    std::uint64_t id(std::string_view column) const { return static_cast<std::uint64_t>(integer(column)); }
    bool flag(std::string_view column) const { return integer(column) != 0; }
    double number(std::string_view column) const { return row_.column_double(index(column)); }
    std::string text(std::string_view column) const { return row_.column_text(index(column)); }
    Instant time(std::string_view column) const { return Instant{Duration{integer(column)}}; }
    Duration duration(std::string_view column) const { return Duration{integer(column)}; }
    WideInteger wide(std::string_view high, std::string_view low) const { return {integer(high), id(low)}; }

  private:
    int index(std::string_view column) const {
        std::size_t at = 0;
        while (at < table_.columns.size() && table_.columns[at] != column) {
            ++at;
        }
        WEIR_CHECK(at < table_.size());
        return static_cast<int>(at);
    }
    const SqliteStatement& row_;
    const StateTable& table_;
};

/// Binds the values of one row to a statement of insert_sql(), or those of its key to one of delete_sql(), in the order
/// of the table's columns. A value for another column than the next is a programmer's error.
class RowWriter {
  public:
    RowWriter(SqliteStatement& statement, const StateTable& table) : statement_(statement), table_(table) {}
    RowWriter& integer(std::string_view column, std::int64_t value) {
        expect(column);
        statement_.bind(value);
        return *this;
    }
    RowWriter& id(std::string_view column, std::uint64_t value) {
        return integer(column, static_cast<std::int64_t>(value));
    }
    RowWriter& flag(std::string_view column, bool value) { return integer(column, value ? 1 : 0); }
    RowWriter& number(std::string_view column, double value) {
        expect(column);
        statement_.bind(value);
        return *this;
    }
    RowWriter& text(std::string_view column, std::string_view value) {
        expect(column);
        statement_.bind(value);
        return *this;
    }
    RowWriter& time(std::string_view column, Instant value) {
        return integer(column, value.time_since_epoch().count());
    }
    RowWriter& duration(std::string_view column, Duration value) { return integer(column, value.count()); }
    RowWriter& wide(std::string_view high, std::string_view low, const WideInteger& value) {
        return integer(high, value.high).id(low, value.low);
    }

  private:
    void expect(std::string_view column) {
        WEIR_CHECK(next_ < table_.size() && table_.columns[next_] == column);
        ++next_;
    }
    SqliteStatement& statement_;
    const StateTable& table_;
    std::size_t next_ = 0;
};

}  // namespace weir::priority
