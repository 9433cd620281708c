// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the share-tree file while the module runs: where it is, when it is read again, and the messages about it.
// Must not know the format of a share tree. `flux config reload` does not reach a module whose configuration is
// unchanged, so a save of the file is noticed here: at once by inotify, else by passes that see another time of change.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "modules/common/flux_cpp.hpp"
#include "modules/job-priority/module/config_places.hpp"
#include "modules/job-priority/module/state_link.hpp"
#include "modules/job-priority/priority_service.hpp"

namespace weir::priority {

class ShareTreeFile {
  public:
    ShareTreeFile(flux_t* h, PriorityService& service, StateLink& state);
    ~ShareTreeFile();
    ShareTreeFile(const ShareTreeFile&) = delete;
    ShareTreeFile& operator=(const ShareTreeFile&) = delete;

    /// Reads the file that the settings in force name, and logs the result. A bad file changes nothing. Returns whether
    /// the tree changed.
    bool read(Instant now);
    /// read() if the file was saved since the last read, or its tree could not be stored then. O(1) if not.
    bool read_if_due(Instant now);
    /// The same by the file's time of change, for a file system without inotify. A change counts when the next call
    /// sees the same stamp: a file that is half written must not become the tree. One stat(2).
    bool read_if_changed(Instant now);

    flux_t* flux() const { return h_; }

  private:
    /// The stamp of a file by stat(2); a save changes it.
    struct Stamp {
        std::uint64_t device = 0;
        std::uint64_t inode = 0;
        std::int64_t size = -1;  ///< -1: no file
        std::int64_t changed_ns = 0;
        friend bool operator==(const Stamp&, const Stamp&) = default;
    };
    /// A folder has the stamp of no file: what is put into it does not matter.
    static Stamp stamp_of(const std::string& path);

    std::string path_of_settings() const;
    bool take(const std::string& text, Instant now);
    /// Whether that it cannot be read is a mistake. Nobody must have a file of the default name.
    bool is_mistake(std::errc why) const;
    /// Sets the problem, and logs it unless it is the one that was logged last.
    void report_unreadable(const Error& why);
    void report_if_gone();
    void report(bool is_taken, bool is_saved) const;
    void log_problem() const;
    void warn_of_place() const;
    void watch_folder();
    void on_folder();

    flux_t* h_;
    PriorityService& service_;
    StateLink& state_;
    std::string path_;
    std::optional<Stamp> stamp_;  ///< before the last read
    std::optional<Stamp> seen_;   ///< by the last read_if_changed()
    bool is_due_ = false;         ///< saved since
    bool is_moved_away_ = false;  ///< removed since, or replaced by a folder; it may be there again
    bool was_there_ = false;      ///< could be read once: that it is missing is a mistake
    bool is_unkept_ = false;      ///< could not be stored: due when the state file can be written again
    std::string unreadable_;      ///< why the last read failed, as it was logged; empty: it did not
    int inotify_ = -1;
    flux::Watcher watcher_;
};

}  // namespace weir::priority
