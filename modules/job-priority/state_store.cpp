// SPDX-License-Identifier: LGPL-3.0-only
// Owns: opening, checking and moving aside of the state file. See state_store.hpp. The rows: state_store_rows.cpp.
#include "modules/job-priority/state_store.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace weir::priority {
namespace {

constexpr const char* schema_version = "3";

// "weir" in ASCII: a SQLite file of another program is not ours to write into.
constexpr const char* application_id = "2003134834";

constexpr const char* schema =
    "CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;"
    "CREATE TABLE IF NOT EXISTS tree_revision (revision INTEGER PRIMARY KEY, time_us INTEGER NOT NULL,"
    "  author TEXT NOT NULL, reason TEXT NOT NULL, toml TEXT NOT NULL) STRICT;"
    "CREATE TABLE IF NOT EXISTS ledger (path TEXT PRIMARY KEY, weighted_high INTEGER NOT NULL,"
    "  weighted_low INTEGER NOT NULL, charged_high INTEGER NOT NULL, charged_low INTEGER NOT NULL,"
    "  rate INTEGER NOT NULL) STRICT, WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS charge (path TEXT NOT NULL, rate INTEGER NOT NULL, time_us INTEGER NOT NULL) STRICT;"
    "CREATE TABLE IF NOT EXISTS running (job INTEGER PRIMARY KEY, path TEXT NOT NULL, cores INTEGER NOT NULL,"
    "  start_us INTEGER NOT NULL, rate INTEGER NOT NULL DEFAULT 0, prepaid_us INTEGER NOT NULL DEFAULT 0,"
    "  gpus INTEGER NOT NULL DEFAULT 0, committed_us INTEGER NOT NULL DEFAULT 0) STRICT;"
    "CREATE TABLE IF NOT EXISTS charged (job INTEGER PRIMARY KEY, end_us INTEGER NOT NULL) STRICT;"
    "CREATE TABLE IF NOT EXISTS reported (child INTEGER NOT NULL, job INTEGER NOT NULL, path TEXT NOT NULL,"
    "  cores INTEGER NOT NULL, start_us INTEGER NOT NULL, inside INTEGER NOT NULL DEFAULT 0,"
    "  rate INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (child, job)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS downlink (child INTEGER PRIMARY KEY, instance TEXT NOT NULL,"
    "  seq_acked INTEGER NOT NULL, applied_until_us INTEGER NOT NULL, ignored_until_us INTEGER NOT NULL) STRICT;"
    "CREATE TABLE IF NOT EXISTS uplink (seq INTEGER PRIMARY KEY, is_start INTEGER NOT NULL, job INTEGER NOT NULL,"
    "  user TEXT NOT NULL, account TEXT NOT NULL, cores INTEGER NOT NULL, time_us INTEGER NOT NULL,"
    "  inside INTEGER NOT NULL DEFAULT 0) STRICT;"
    "CREATE TABLE IF NOT EXISTS site_value (job INTEGER PRIMARY KEY, value REAL NOT NULL) STRICT;"
    "CREATE TABLE IF NOT EXISTS counted (part INTEGER NOT NULL, path TEXT NOT NULL, numbers TEXT NOT NULL,"
    "  PRIMARY KEY (part, path)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS counted_event (path TEXT NOT NULL, rate INTEGER NOT NULL, start_us INTEGER NOT NULL,"
    "  prepaid_us INTEGER NOT NULL, cores INTEGER NOT NULL, gpus INTEGER NOT NULL, committed_us INTEGER NOT NULL,"
    "  is_end INTEGER NOT NULL, end_us INTEGER NOT NULL) STRICT;";

/// What a file of version 1 lacks: jobs inside reported jobs.
constexpr const char* from_version_1 =
    "ALTER TABLE reported ADD COLUMN inside INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE uplink ADD COLUMN inside INTEGER NOT NULL DEFAULT 0;";

/// What a file of version 2 lacks: what jobs cost. They cost their cores until then.
constexpr const char* from_version_2 =
    "ALTER TABLE running ADD COLUMN rate INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE running ADD COLUMN prepaid_us INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE running ADD COLUMN gpus INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE running ADD COLUMN committed_us INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE reported ADD COLUMN rate INTEGER NOT NULL DEFAULT 0;"
    "UPDATE running SET rate = 1000 * cores;"
    "UPDATE reported SET rate = 1000 * cores;";

bool exists(const std::string& path) {
    return access(path.c_str(), F_OK) == 0;
}

/// Moves the file and its journal files to the first free PATH.corrupt-N.
Result<std::string> move_aside(const std::string& path) {
    constexpr int tries_max = 10000;
    for (int number = 1; number <= tries_max; ++number) {
        const std::string target = path + ".corrupt-" + std::to_string(number);
        if (exists(target)) {
            continue;
        }
        if (std::rename(path.c_str(), target.c_str()) != 0) {
            return Error{std::errc::io_error, "cannot move " + path + " to " + target + ": " + std::strerror(errno)};
        }
        for (const char* suffix : {"-wal", "-shm"}) {
            std::rename((path + suffix).c_str(), (target + suffix).c_str());  // absent is fine
        }
        return target;
    }
    return Error{std::errc::file_exists, "too many " + path + ".corrupt-* files: remove some"};
}

}  // namespace

Error StateStore::failed(const char* what) const {
    const SqliteFailure failure = db_.failure().value_or(SqliteFailure{});
    const std::string where = "state file " + (path_.empty() ? "(in memory)" : path_);
    if (is_in_use(failure)) {
        return Error{std::errc::device_or_resource_busy,
                     where +
                         " is in use by another job-priority module: give this instance a statedir or [weir] state "
                         "of its own"};
    }
    const std::errc code = is_corruption(failure) ? std::errc::illegal_byte_sequence : std::errc::io_error;
    return Error{code, where + ": " + what + ": " + failure.message};
}

Result<StateStore> StateStore::open(const std::string& path, std::vector<std::string>& warnings) {
    for (int attempt = 0;; ++attempt) {
        StateStore store;
        store.path_ = path;
        Status status = store.prepare_file();
        if (status) {
            status = store.read_all();
        }
        if (status) {
            return store;
        }
        if (path.empty() || attempt > 0 || status.error().code != std::errc::illegal_byte_sequence) {
            return status.error();
        }
        store.db_ = SqliteDb();  // close before the file moves
        const Result<std::string> moved = move_aside(path);
        if (!moved) {
            return moved.error();
        }
        warnings.push_back(
            status.error().message + "; it is damaged and was moved to " + *moved +
            ". Starting from the job journal and the share-tree file: usage of jobs that the job-manager "
            "no longer remembers is missing until that file is repaired");
    }
}

Status StateStore::prepare_file() {
    db_ = SqliteDb::open(path_.empty() ? ":memory:" : path_);
    if (db_.failure()) {
        return failed("cannot open");
    }
    if (!db_.execute("PRAGMA locking_mode=EXCLUSIVE; PRAGMA busy_timeout=200; PRAGMA synchronous=FULL;"
                     "PRAGMA journal_mode=WAL;")) {
        return failed("cannot open");
    }
    const auto check = db_.scalar("PRAGMA quick_check(1)");
    if (!check || *check != "ok") {
        if (!db_.failure() || is_corruption(*db_.failure())) {
            return Error{std::errc::illegal_byte_sequence,
                         "state file " + path_ + ": " + check.value_or("not a database")};
        }
        return failed("cannot check");
    }
    const auto owner = db_.scalar("PRAGMA application_id").value_or("0");
    const auto version = db_.scalar("PRAGMA user_version").value_or("0");
    if (owner != "0" && owner != application_id) {
        return Error{std::errc::illegal_byte_sequence, "state file " + path_ + " belongs to another program"};
    }
    if (version != "0" && version != "1" && version != "2" && version != schema_version) {
        return Error{std::errc::not_supported, "state file " + path_ + " has schema version " + version +
                                                   ", this module writes " + schema_version + ": use the newer module"};
    }
    SqliteTransaction transaction(db_);
    if (!transaction.is_open() || (version == "1" && !db_.execute(from_version_1)) ||
        ((version == "1" || version == "2") && !db_.execute(from_version_2)) || !db_.execute(schema) ||
        !db_.execute(std::string("PRAGMA application_id=") + application_id +
                     "; PRAGMA user_version=" + schema_version) ||
        !transaction.commit()) {
        return failed("cannot create the tables");
    }
    return Done{};
}

Status StateStore::apply(const StateBatch& batch) {
    if (batch.is_empty()) {
        return Done{};
    }
    db_.clear_failure();
    SqliteTransaction transaction(db_);
    if (!transaction.is_open()) {
        return failed("cannot write");
    }
    if (Status written = write_rows(batch); !written) {
        return written;
    }
    if (!transaction.commit()) {
        return failed("cannot commit");
    }
    return Done{};
}

}  // namespace weir::priority
