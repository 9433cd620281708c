// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the state file: its tables, one transaction a batch, the treatment of a damaged or foreign file.
// Must not know: what the rows mean.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libfairshare/base/result.hpp"
#include "modules/job-priority/state/sqlite.hpp"
#include "modules/job-priority/state/state_rows.hpp"

namespace weir::priority {

/// Who chose the file's name.
enum class StatePlace {
    own,    ///< this module: a file there is ours
    named,  ///< the site, which may have named a file of another kind by mistake
};

/// The SQLite file of one instance: WAL, exclusive (a second module on the same file is refused), STRICT tables.
/// While it is open, and after a kill, the file says that its write-ahead log belongs to it; so the removal of that log
/// is noticed.
class StateStore {
  public:
    /// Opens or makes the file and reads it whole.
    /// A file of ours that SQLite or our own checks call damaged is moved to PATH.corrupt-N (nothing is deleted) and a
    /// new one begun; `warnings` reports that, and also an emptied file and a lost write-ahead log. A file in use, of a
    /// newer schema, not writable, or of another program is an error; nothing in it is changed, and it stays where it
    /// is. \param path a file; empty: in memory, nothing outlives the module
    static Result<StateStore> open(const std::string& path, std::vector<std::string>& warnings,
                                   StatePlace place = StatePlace::own);
    StateStore(StateStore&& other) noexcept { *this = std::move(other); }
    StateStore& operator=(StateStore&& other) noexcept;
    ~StateStore();

    const SavedState& saved() const { return saved_; }
    /// Whether there was no file.
    bool is_new() const { return saved_.meta.instance.empty(); }
    /// Whether the content is older than the last commit, because the write-ahead log is missing.
    bool has_lost_log() const { return has_lost_log_; }
    /// Drops what was read at start, once the services have restored it.
    void drop_saved() { saved_ = SavedState{}; }

    /// Writes the batch in one transaction: after success a kill -9 cannot undo it, after failure no part of it is in
    /// the file.
    Status apply(const StateBatch& batch);

    /// Usage by span, which is the hours from one edge to before the next: `take` gets the number of a span and a sum
    /// whose label has the parts in `by`, one label possibly twice; `end` is called after each span, in their order.
    /// Errors: those of SQLite. O(rows of those hours).
    Status read_usage(
        std::span<const std::int64_t> edges, const UsageLabels& by,
        const std::function<void(std::size_t, const UsageSlot&, SignedCoreMicros)>& take,
        const std::function<void()>& end = [] {});

    const std::string& path() const { return path_; }

  private:
    StateStore() = default;
    void close();
    Status check_owner(StatePlace place);
    Status prepare_file();
    Status create_tables();
    void note_open(std::vector<std::string>& warnings);
    Status read_all();
    Status write_rows(const StateBatch& batch);
    Status add_usage(const UsageHours& usage);
    Error failed(const char* what) const;

    std::string path_;
    SqliteDb db_;
    SavedState saved_;
    bool has_log_ = false;  ///< there was a write-ahead log when the file was opened
    bool has_lost_log_ = false;
    bool is_marked_ = false;  ///< the file says that it is open
};

}  // namespace weir::priority
