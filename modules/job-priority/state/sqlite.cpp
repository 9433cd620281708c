// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the calls into SQLite. See sqlite.hpp.
#include "modules/job-priority/state/sqlite.hpp"

namespace weir::priority {

void SqliteStatement::note(int code) {
    if (code != SQLITE_OK && code != SQLITE_ROW && code != SQLITE_DONE) {
        sqlite3* db = statement_ ? sqlite3_db_handle(statement_.get()) : nullptr;
        failure_ = SqliteFailure{code, db != nullptr ? sqlite3_errmsg(db) : sqlite3_errstr(code)};
    }
}

SqliteStatement& SqliteStatement::bind(std::int64_t value) {
    note(sqlite3_bind_int64(statement_.get(), ++bound_, value));
    return *this;
}

SqliteStatement& SqliteStatement::bind(double value) {
    note(sqlite3_bind_double(statement_.get(), ++bound_, value));
    return *this;
}

SqliteStatement& SqliteStatement::bind(std::string_view value) {
    note(sqlite3_bind_text(statement_.get(), ++bound_, value.data(), static_cast<int>(value.size()), SQLITE_TRANSIENT));
    return *this;
}

bool SqliteStatement::step() {
    if (!statement_ || failure_) {
        return false;
    }
    const int code = sqlite3_step(statement_.get());
    note(code);
    return code == SQLITE_ROW;
}

bool SqliteStatement::run() {
    while (step()) {
    }
    reset();
    return !failure_;
}

void SqliteStatement::reset() {
    sqlite3_reset(statement_.get());
    bound_ = 0;
}

std::int64_t SqliteStatement::column_int(int column) const {
    return sqlite3_column_int64(statement_.get(), column);
}

double SqliteStatement::column_double(int column) const {
    return sqlite3_column_double(statement_.get(), column);
}

std::string SqliteStatement::column_text(int column) const {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
    const int size = sqlite3_column_bytes(statement_.get(), column);
    return text == nullptr ? std::string() : std::string(text, static_cast<std::size_t>(size));
}

SqliteDb SqliteDb::open(const std::string& path) {
    return open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
}

SqliteDb SqliteDb::open_to_read(const std::string& path) {
    return open(path, SQLITE_OPEN_READONLY);
}

void SqliteDb::keep_log() {
    int on = 1;
    sqlite3_file_control(db_.get(), "main", SQLITE_FCNTL_PERSIST_WAL, &on);
}

SqliteDb SqliteDb::open(const std::string& path, int flags) {
    SqliteDb db;
    sqlite3* raw = nullptr;
    const int code = sqlite3_open_v2(path.c_str(), &raw, flags, nullptr);
    db.db_.reset(raw);
    db.note(code);
    if (raw != nullptr) {
        sqlite3_extended_result_codes(raw, 1);
    }
    return db;
}

void SqliteDb::note(int code) {
    if (code != SQLITE_OK) {
        failure_ = SqliteFailure{code, db_ ? sqlite3_errmsg(db_.get()) : sqlite3_errstr(code)};
    }
}

bool SqliteDb::execute(const std::string& sql) {
    const int code = sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr);
    note(code);
    return code == SQLITE_OK;
}

SqliteStatement SqliteDb::prepare(std::string_view sql) {
    SqliteStatement statement;
    sqlite3_stmt* raw = nullptr;
    const int code = sqlite3_prepare_v2(db_.get(), sql.data(), static_cast<int>(sql.size()), &raw, nullptr);
    statement.statement_.reset(raw);
    if (code != SQLITE_OK) {
        statement.failure_ = SqliteFailure{code, sqlite3_errmsg(db_.get())};
    }
    return statement;
}

std::optional<std::string> SqliteDb::scalar(std::string_view sql) {
    SqliteStatement statement = prepare(sql);
    if (statement.step()) {
        return statement.column_text(0);
    }
    if (statement.failure()) {
        failure_ = statement.failure();
    }
    return std::nullopt;
}

SqliteTransaction::SqliteTransaction(SqliteDb& db) : db_(db), is_open_(db.execute("BEGIN IMMEDIATE")) {}

SqliteTransaction::~SqliteTransaction() {
    if (is_open_) {
        const auto kept = db_.failure();
        db_.execute("ROLLBACK");
        if (!kept) {
            db_.clear_failure();
        }
    }
}

bool SqliteTransaction::commit() {
    if (!is_open_ || !db_.execute("COMMIT")) {
        return false;
    }
    is_open_ = false;
    return true;
}

bool is_corruption(const SqliteFailure& failure) {
    const int primary = failure.code & 0xff;
    return primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB || primary == SQLITE_FORMAT;
}

bool is_in_use(const SqliteFailure& failure) {
    const int primary = failure.code & 0xff;
    return primary == SQLITE_BUSY || primary == SQLITE_LOCKED;
}

}  // namespace weir::priority
