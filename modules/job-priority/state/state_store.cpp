// SPDX-License-Identifier: LGPL-3.0-only
// Owns: opening, checking and moving aside of the state file. See state_store.hpp. The rows: state_store_rows.cpp.
#include "modules/job-priority/state/state_store.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

namespace weir::priority {
namespace {

constexpr const char* schema_version = "10";

// "weir" in ASCII: a SQLite file of another program must not be changed.
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
    "  gpus INTEGER NOT NULL DEFAULT 0, committed_us INTEGER NOT NULL DEFAULT 0,"
    "  submit_us INTEGER NOT NULL DEFAULT 0, alloc_us INTEGER NOT NULL DEFAULT 0,"
    "  told_until_us INTEGER NOT NULL DEFAULT 0, queue TEXT NOT NULL DEFAULT '',"
    "  project TEXT NOT NULL DEFAULT '') STRICT;"
    "CREATE TABLE IF NOT EXISTS charged (job INTEGER NOT NULL, submit_us INTEGER NOT NULL, alloc_us INTEGER NOT NULL,"
    "  end_us INTEGER NOT NULL, PRIMARY KEY (job, submit_us, alloc_us)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS reported (child INTEGER NOT NULL, job INTEGER NOT NULL, path TEXT NOT NULL,"
    "  cores INTEGER NOT NULL, start_us INTEGER NOT NULL, inside INTEGER NOT NULL DEFAULT 0,"
    "  rate INTEGER NOT NULL DEFAULT 0, told_until_us INTEGER NOT NULL DEFAULT 0,"
    "  queue TEXT NOT NULL DEFAULT '', project TEXT NOT NULL DEFAULT '', above INTEGER NOT NULL DEFAULT 0,"
    "  prepaid_us INTEGER NOT NULL DEFAULT 0, gpus INTEGER NOT NULL DEFAULT 0,"
    "  committed_us INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (child, job)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS downlink (child INTEGER PRIMARY KEY, instance TEXT NOT NULL,"
    "  seq_acked INTEGER NOT NULL, applied_until_us INTEGER NOT NULL, ignored_until_us INTEGER NOT NULL) STRICT;"
    "CREATE TABLE IF NOT EXISTS closed (child INTEGER NOT NULL, job INTEGER NOT NULL, path TEXT NOT NULL,"
    "  cores INTEGER NOT NULL, start_us INTEGER NOT NULL, inside INTEGER NOT NULL, rate INTEGER NOT NULL,"
    "  told_until_us INTEGER NOT NULL, end_us INTEGER NOT NULL, instance TEXT NOT NULL, seq_acked INTEGER NOT NULL,"
    "  applied_until_us INTEGER NOT NULL, queue TEXT NOT NULL DEFAULT '', project TEXT NOT NULL DEFAULT '',"
    "  is_told INTEGER NOT NULL DEFAULT 0, above INTEGER NOT NULL DEFAULT 0, prepaid_us INTEGER NOT NULL DEFAULT 0,"
    "  gpus INTEGER NOT NULL DEFAULT 0, committed_us INTEGER NOT NULL DEFAULT 0,"
    "  PRIMARY KEY (child, job)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS uplink (seq INTEGER PRIMARY KEY, is_start INTEGER NOT NULL, job INTEGER NOT NULL,"
    "  user TEXT NOT NULL, account TEXT NOT NULL, cores INTEGER NOT NULL, time_us INTEGER NOT NULL,"
    "  inside INTEGER NOT NULL DEFAULT 0, queue TEXT NOT NULL DEFAULT '', project TEXT NOT NULL DEFAULT '',"
    "  rate INTEGER NOT NULL DEFAULT 0, prepaid_us INTEGER NOT NULL DEFAULT 0, gpus INTEGER NOT NULL DEFAULT 0,"
    "  committed_us INTEGER NOT NULL DEFAULT 0, qos TEXT NOT NULL DEFAULT '') STRICT;"
    "CREATE TABLE IF NOT EXISTS site_value (job INTEGER PRIMARY KEY, value REAL NOT NULL,"
    "  submit_us INTEGER NOT NULL DEFAULT 0) STRICT;"
    "CREATE TABLE IF NOT EXISTS counted (part INTEGER NOT NULL, path TEXT NOT NULL, numbers TEXT NOT NULL,"
    "  PRIMARY KEY (part, path)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS counted_event (path TEXT NOT NULL, rate INTEGER NOT NULL, start_us INTEGER NOT NULL,"
    "  prepaid_us INTEGER NOT NULL, cores INTEGER NOT NULL, gpus INTEGER NOT NULL, committed_us INTEGER NOT NULL,"
    "  is_end INTEGER NOT NULL, end_us INTEGER NOT NULL) STRICT;"
    "CREATE TABLE IF NOT EXISTS usage_label (id INTEGER PRIMARY KEY, account TEXT NOT NULL, user TEXT NOT NULL,"
    "  queue TEXT NOT NULL, project TEXT NOT NULL, UNIQUE (account, user, queue, project)) STRICT;"
    "CREATE TABLE IF NOT EXISTS usage_hour (hour INTEGER NOT NULL, label INTEGER NOT NULL, core_us INTEGER NOT NULL,"
    "  PRIMARY KEY (hour, label)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS place (child INTEGER NOT NULL, job INTEGER NOT NULL, user TEXT NOT NULL,"
    "  account TEXT NOT NULL, queue TEXT NOT NULL, qos TEXT NOT NULL, nodes INTEGER NOT NULL,"
    "  cores INTEGER NOT NULL, wall_us INTEGER NOT NULL, PRIMARY KEY (child, job)) STRICT, WITHOUT ROWID;";

/// Version 1 has no jobs inside reported jobs.
constexpr const char* from_version_1 =
    "ALTER TABLE reported ADD COLUMN inside INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE uplink ADD COLUMN inside INTEGER NOT NULL DEFAULT 0;";

/// Version 2 has no costs of jobs: a job cost its cores.
constexpr const char* from_version_2 =
    "ALTER TABLE running ADD COLUMN rate INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE running ADD COLUMN prepaid_us INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE running ADD COLUMN gpus INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE running ADD COLUMN committed_us INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE reported ADD COLUMN rate INTEGER NOT NULL DEFAULT 0;"
    "UPDATE running SET rate = 1000 * cores;"
    "UPDATE reported SET rate = 1000 * cores;";

/// Version 3 has no runs: a row matches any run of its job id.
constexpr const char* from_version_3 =
    "CREATE TABLE IF NOT EXISTS site_value (job INTEGER PRIMARY KEY, value REAL NOT NULL) STRICT;"
    "ALTER TABLE running ADD COLUMN submit_us INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE running ADD COLUMN alloc_us INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE site_value ADD COLUMN submit_us INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE charged RENAME TO charged_3;"
    "CREATE TABLE charged (job INTEGER NOT NULL, submit_us INTEGER NOT NULL, alloc_us INTEGER NOT NULL,"
    "  end_us INTEGER NOT NULL, PRIMARY KEY (job, submit_us, alloc_us)) STRICT, WITHOUT ROWID;"
    "INSERT INTO charged SELECT job, 0, 0, end_us FROM charged_3; DROP TABLE charged_3;";

/// Version 4 does not have the time up to which a job's cores were reported.
constexpr const char* from_version_4 =
    "ALTER TABLE running ADD COLUMN told_until_us INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE reported ADD COLUMN told_until_us INTEGER NOT NULL DEFAULT 0;";

/// Version 5 has no usage by the hour, and no queues and projects of jobs. The table `closed` was added within version
/// 5: a file without it gets it.
constexpr const char* from_version_5 =
    "CREATE TABLE IF NOT EXISTS closed (child INTEGER NOT NULL, job INTEGER NOT NULL, path TEXT NOT NULL,"
    "  cores INTEGER NOT NULL, start_us INTEGER NOT NULL, inside INTEGER NOT NULL, rate INTEGER NOT NULL,"
    "  told_until_us INTEGER NOT NULL, end_us INTEGER NOT NULL, instance TEXT NOT NULL, seq_acked INTEGER NOT NULL,"
    "  applied_until_us INTEGER NOT NULL, PRIMARY KEY (child, job)) STRICT, WITHOUT ROWID;"
    "ALTER TABLE running ADD COLUMN queue TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE running ADD COLUMN project TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE reported ADD COLUMN queue TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE reported ADD COLUMN project TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE closed ADD COLUMN queue TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE closed ADD COLUMN project TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE uplink ADD COLUMN queue TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE uplink ADD COLUMN project TEXT NOT NULL DEFAULT '';";

/// Version 6 does not know of which closed jobs the end was told.
constexpr const char* from_version_6 = "ALTER TABLE closed ADD COLUMN is_told INTEGER NOT NULL DEFAULT 0;";

/// Version 7 does not keep the names that our parent has for children's jobs: 0 stands for older_name_above().
constexpr const char* from_version_7 =
    "ALTER TABLE reported ADD COLUMN above INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE closed ADD COLUMN above INTEGER NOT NULL DEFAULT 0;";

/// Version 8 does not tell our parent what a job costs, nor its QoS: these cost their cores.
constexpr const char* from_version_8 =
    "ALTER TABLE reported ADD COLUMN prepaid_us INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE reported ADD COLUMN gpus INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE reported ADD COLUMN committed_us INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE closed ADD COLUMN prepaid_us INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE closed ADD COLUMN gpus INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE closed ADD COLUMN committed_us INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE uplink ADD COLUMN rate INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE uplink ADD COLUMN prepaid_us INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE uplink ADD COLUMN gpus INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE uplink ADD COLUMN committed_us INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE uplink ADD COLUMN qos TEXT NOT NULL DEFAULT '';"
    "UPDATE uplink SET rate = cores * 1000;";

/// Version 9 has no places of children's jobs: no child asked for one.
constexpr const char* from_version_9 = "";

/// The migrations, one after the other; index 0 takes version 1 to 2.
constexpr std::array migrations{from_version_1, from_version_2, from_version_3, from_version_4, from_version_5,
                                from_version_6, from_version_7, from_version_8, from_version_9};

bool exists(const std::string& path) {
    std::error_code failed;
    return std::filesystem::exists(path, failed);
}

/// Bytes of a file; 0 also where there is none.
std::uintmax_t size_of(const std::string& path) {
    std::error_code failed;
    const std::uintmax_t size = std::filesystem::file_size(path, failed);
    return failed ? 0 : size;
}

// sqlite.org/fileformat2: the header's first 16 bytes, and the application id in it, big endian.
constexpr std::string_view header_magic{"SQLite format 3\0", 16};
constexpr std::size_t header_application_id = 68;
constexpr std::size_t header_size = 100;

/// The application id in the header of a SQLite file; nothing for another kind of file, or none.
std::optional<std::uint32_t> header_id(const std::string& path) {
    std::array<char, header_size> header{};
    std::ifstream file(path, std::ios::binary);
    if (!file.read(header.data(), header.size()) ||
        std::string_view(header.data(), header_magic.size()) != header_magic) {
        return std::nullopt;
    }
    std::uint32_t id = 0;
    for (std::size_t at = header_application_id; at < header_application_id + 4; ++at) {
        id = id << 8 | static_cast<unsigned char>(header.at(at));
    }
    return id;
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

Result<StateStore> StateStore::open(const std::string& path, std::vector<std::string>& warnings, StatePlace place) {
    for (int attempt = 0;; ++attempt) {
        StateStore store;
        store.path_ = path;
        store.has_log_ = size_of(path + "-wal") != 0;
        const bool is_emptied = !path.empty() && exists(path) && size_of(path) == 0;
        Status status = store.check_owner(place);
        if (status) {
            status = store.prepare_file();
        }
        if (status) {
            status = store.read_all();
        }
        if (status) {
            if (is_emptied) {
                warnings.push_back("state file " + path +
                                   " was empty: if it was not made so on purpose, put a copy back");
            }
            store.note_open(warnings);
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

/// Checked before the first write: SQLite itself would accept a foreign file, and change its journal mode.
Status StateStore::check_owner(StatePlace place) {
    if (path_.empty() || !exists(path_)) {
        return Done{};
    }
    if (size_of(path_) == 0) {  // SQLite would delete a log that belongs to it
        return has_log_ ? Status(Error{std::errc::illegal_byte_sequence,
                                       "state file " + path_ + ": it is empty, its write-ahead log is not"})
                        : Done{};
    }
    const std::optional<std::uint32_t> id = header_id(path_);
    if (!id && place == StatePlace::named) {
        return Error{std::errc::operation_not_permitted,
                     "[weir] state: " + path_ +
                         " is no SQLite file: nothing in it was changed; name another file, or move "
                         "this one away"};
    }
    std::string owner = id ? std::to_string(*id) : std::string(application_id);  // a file at our own place is ours
    if (owner == "0") {
        SqliteDb db = SqliteDb::open_to_read(path_);
        const bool has_tables = db.scalar("SELECT 1 FROM sqlite_master LIMIT 1").has_value();
        if (db.failure() ? is_in_use(*db.failure()) : !has_tables) {
            return Done{};  // prepare_file() reports a file in use; or the file is new
        }
        owner = db.scalar("PRAGMA application_id").value_or(owner);  // as its log has it
    }
    if (owner == application_id) {
        return Done{};
    }
    return Error{std::errc::operation_not_permitted,
                 "state file " + path_ + " is a SQLite file of another program (application id " + owner +
                     "): nothing in it was changed; name another file with [weir] state, or move this one away"};
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
    return create_tables();
}

Status StateStore::create_tables() {
    const std::string version = db_.scalar("PRAGMA user_version").value_or("0");
    if (version == schema_version) {
        return Done{};
    }
    SqliteTransaction transaction(db_);
    bool is_done = transaction.is_open();
    if (version != "0") {
        std::size_t from = 1;
        while (from <= migrations.size() && std::to_string(from) != version) {
            ++from;
        }
        if (from > migrations.size()) {
            return Error{std::errc::not_supported, "state file " + path_ + " has schema version " + version +
                                                       ", this module writes " + schema_version +
                                                       ": use the newer module"};
        }
        for (; from <= migrations.size(); ++from) {
            is_done = is_done && db_.execute(migrations.at(from - 1));
        }
    }
    is_done = is_done && db_.execute(schema) &&
              db_.execute(std::string("PRAGMA application_id=") + application_id +
                          "; PRAGMA user_version=" + schema_version) &&
              transaction.commit();
    return is_done ? Status(Done{}) : failed("cannot create the tables");
}

/// The mark is in the file itself, not only in the log. On a full disk it is left out.
void StateStore::note_open(std::vector<std::string>& warnings) {
    const bool was_open = db_.scalar("SELECT 1 FROM meta WHERE key='open'").has_value();
    has_lost_log_ = was_open && !has_log_ && !path_.empty();
    if (has_lost_log_) {
        warnings.push_back(
            "state file " + path_ + ": its write-ahead log " + path_ +
            "-wal is missing or empty, though the last module did not close the file: what was committed "
            "since the last checkpoint is lost, revisions of the share tree among it. Usage is counted "
            "again from the job journal as far as that reaches");
    }
    if (!was_open) {
        db_.execute("INSERT OR REPLACE INTO meta VALUES ('open', '1'); PRAGMA wal_checkpoint(FULL);");
    }
    db_.clear_failure();
    is_marked_ = true;
}

StateStore::~StateStore() {
    close();
}

StateStore& StateStore::operator=(StateStore&& other) noexcept {
    close();
    path_ = std::move(other.path_);
    db_ = std::move(other.db_);
    saved_ = std::move(other.saved_);
    has_log_ = other.has_log_;
    has_lost_log_ = other.has_lost_log_;
    is_marked_ = std::exchange(other.is_marked_, false);
    return *this;
}

void StateStore::close() {
    if (std::exchange(is_marked_, false) && !db_.execute("DELETE FROM meta WHERE key='open'")) {
        db_.keep_log();  // the mark stays, and so must the log
    }
    db_ = SqliteDb();
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
