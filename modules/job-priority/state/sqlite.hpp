// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the RAII of a SQLite connection, statement and transaction, with errors as sentences that name the file.
// Must not know: any table. No other file includes <sqlite3.h>.
// Source: sqlite.org/c3ref; WAL and STRICT as of SQLite 3.37.
#pragma once
#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "libfairshare/base/result.hpp"

namespace weir::priority {

/// A SQLite failure: the extended result code, so that "corrupt" and "busy" can be distinguished.
struct SqliteFailure {
    int code = 0;
    std::string message;
};

/// One prepared statement. Values are bound from index 1 in order of the calls; columns are read from 0.
class SqliteStatement {
  public:
    SqliteStatement& bind(std::int64_t value);
    SqliteStatement& bind(double value);
    SqliteStatement& bind(std::string_view value);
    /// True: there is a row. False: done, or failed (see failure()).
    bool step();
    /// Executes to the end and resets for the next use. False when it failed.
    bool run();
    void reset();
    std::int64_t column_int(int column) const;
    double column_double(int column) const;
    std::string column_text(int column) const;
    const std::optional<SqliteFailure>& failure() const { return failure_; }

  private:
    friend class SqliteDb;
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
    };
    void note(int code);
    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
    std::optional<SqliteFailure> failure_;
    int bound_ = 0;
};

/// One connection. Move-only.
class SqliteDb {
  public:
    /// \param path  a file, or ":memory:"
    static SqliteDb open(const std::string& path);
    /// An existing file, which no statement changes.
    static SqliteDb open_to_read(const std::string& path);
    bool is_open() const { return db_ != nullptr; }
    /// Its write-ahead log outlives the connection.
    void keep_log();
    /// Runs one or several statements that return nothing.
    bool execute(const std::string& sql);
    SqliteStatement prepare(std::string_view sql);
    /// The first column of the first row, as text.
    std::optional<std::string> scalar(std::string_view sql);
    const std::optional<SqliteFailure>& failure() const { return failure_; }
    void clear_failure() { failure_.reset(); }

  private:
    struct Close {
        void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
    };
    static SqliteDb open(const std::string& path, int flags);
    void note(int code);
    std::unique_ptr<sqlite3, Close> db_;
    std::optional<SqliteFailure> failure_;
};

/// BEGIN IMMEDIATE ... COMMIT; rolls back unless committed.
class SqliteTransaction {
  public:
    explicit SqliteTransaction(SqliteDb& db);
    SqliteTransaction(const SqliteTransaction&) = delete;
    SqliteTransaction& operator=(const SqliteTransaction&) = delete;
    ~SqliteTransaction();
    bool is_open() const { return is_open_; }
    bool commit();

  private:
    SqliteDb& db_;
    bool is_open_ = false;
};

/// True for the failures after which the file's content cannot be trusted.
bool is_corruption(const SqliteFailure& failure);
bool is_in_use(const SqliteFailure& failure);

}  // namespace weir::priority
