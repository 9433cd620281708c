// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the state file: its tables, one transaction a batch, what happens to a damaged or foreign file.
// Must not know: what the rows mean. Source: DESIGN.md "State and restarts"; doc/adr/0058.
#pragma once
#include <string>
#include <vector>

#include "libfairshare/base/result.hpp"
#include "modules/job-priority/sqlite.hpp"
#include "modules/job-priority/state_rows.hpp"

namespace weir::priority {

/// The SQLite file of one instance: WAL, exclusive (a second module on the same file is refused), STRICT tables.
class StateStore {
  public:
    /// Opens or makes the file and reads it whole.
    /// A file that SQLite or our own checks call damaged is moved to PATH.corrupt-N (nothing is deleted) and a new one
    /// begun; `warnings` then says so. A file in use, of a newer schema, or not writable is an error.
    /// \param path  a file; empty: in memory, nothing outlives the module
    static Result<StateStore> open(const std::string& path, std::vector<std::string>& warnings);

    const SavedState& saved() const { return saved_; }
    /// Forgets what was read at start, which the services have taken over.
    void drop_saved() { saved_ = SavedState{}; }

    /// Writes the batch in one transaction: after success a kill -9 cannot undo it, after failure nothing of it is
    /// there.
    Status apply(const StateBatch& batch);

    const std::string& path() const { return path_; }

  private:
    StateStore() = default;
    Status prepare_file();
    Status read_all();
    Status write_rows(const StateBatch& batch);
    Error failed(const char* what) const;

    std::string path_;
    SqliteDb db_;
    SavedState saved_;
};

}  // namespace weir::priority
