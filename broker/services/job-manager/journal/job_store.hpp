// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the job journal's file: reading it at start, appending, handling a full disk, compacting.
// Must not know: the journal's text (journal.hpp), flux_t, reactors, plugins; what a restart does to the jobs.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "broker/services/job-manager/journal/journal.hpp"
#include "broker/services/job-manager/journal/syncer.hpp"

namespace weir::broker::jobs {

/// The open file. Appends are collected and written by one write(2) a flush, then synced. The file always ends with a
/// whole line; after a failed write it is cut to one before the next write. While a sync runs nothing is written, so
/// what a power failure can take away, in part and in any order, is the text of one flush.
class JobStore {
  public:
    /// Reads DIRECTORY/jobs.journal if there is one, locks it, cuts off a torn last line. Error: file:line, or the
    /// holder of the lock. `restored.warning` is also set if the journal is missing beside files of an instance that
    /// had jobs.
    /// \param sync  as of fdatasync(2)
    static Result<std::unique_ptr<JobStore>> open(const std::string& directory, EnvironmentPool& environments,
                                                  RestoredJobs& restored, Syncer::Sync sync = sync_data);
    ~JobStore();
    JobStore(const JobStore&) = delete;
    JobStore& operator=(const JobStore&) = delete;

    void append(const Job& job, std::string_view line) { pending_.add(job, line); }
    /// Error: the file and the reason, such as ENOSPC; the file is unchanged, and the lines are kept for the next try.
    Status flush();

    /// Whether the text of a flush is synced to the disk before any change in it is answered. Without it a power
    /// failure may lose what the kernel has not written yet.
    void set_synced(bool is_synced);
    /// Whether text was written that must be synced and is not.
    bool needs_sync() const { return is_synced_ && synced_bytes_ < bytes_; }
    /// Readable when a sync has ended.
    int sync_fd() const { return syncer_.fd(); }
    /// Starts a sync in a thread of its own. REQUIRES: none is running. Nothing may be written until end_sync().
    void begin_sync();
    bool is_syncing() const { return syncer_.is_running(); }
    /// Waits for the running sync, or syncs if that is needed. Error: it is unknown which part of the last flush is on
    /// the disk, and the kernel may never write the rest. Only compact() recovers from that.
    Status end_sync();
    bool is_doubtful() const { return is_doubtful_; }

    /// Allocates disk blocks behind the file's end, so that there is space for the events of jobs accepted now. Error:
    /// as flush(). No effect on file systems without this (EOPNOTSUPP).
    Status reserve();
    /// Replaces the file by one that holds `table` only (written beside it, synced, renamed). Error: the old file
    /// stays.
    Status compact(const JobTable& table, std::uint64_t next_sequence);
    /// True if most of the file is about purged jobs: it has more than 64 MiB and four times its compacted size. After
    /// a compaction that failed, not before another 64 MiB.
    bool is_mostly_dead() const;
    std::uint64_t bytes() const { return bytes_; }

  private:
    JobStore(std::string path, int fd, Syncer::Sync sync) : path_(std::move(path)), fd_(fd), syncer_(std::move(sync)) {}
    static int sync_data(int fd);
    Status cut_to_whole_lines();

    std::string path_;
    int fd_;
    Syncer syncer_;
    bool is_synced_ = true;
    bool is_doubtful_ = false;
    JournalWriter pending_;
    std::uint64_t synced_bytes_ = 0;
    std::uint64_t bytes_ = 0;  // of whole lines; the file may be longer only while is_torn_
    bool is_torn_ = false;
    std::uint64_t reserved_ = 0;  // bytes that the file may have before more must be reserved
    std::uint64_t compact_bytes_ = 0;
    std::uint64_t compact_from_ = 0;
};

}  // namespace weir::broker::jobs
