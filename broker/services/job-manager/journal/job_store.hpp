// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the job journal's file: reading it at start, appending, what a full disk does to it, writing it anew.
// Must not know: the journal's text (journal.hpp), flux_t, reactors, plugins; what a restart does to the jobs.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "broker/services/job-manager/journal/journal.hpp"

namespace weir::broker::jobs {

/// The open file. Appends are collected and written by one write(2) a flush. The file always ends with a whole line or,
/// after a write that failed, is made to before anything is written behind it.
class JobStore {
  public:
    /// Reads DIRECTORY/jobs.journal if there is one, locks it, cuts off a torn last line. Error: file:line, or who
    /// holds the lock. `restored.warning` is set also where no journal is beside files of an instance that had jobs.
    static Result<std::unique_ptr<JobStore>> open(const std::string& directory, EnvironmentPool& environments,
                                                  RestoredJobs& restored);
    ~JobStore();
    JobStore(const JobStore&) = delete;
    JobStore& operator=(const JobStore&) = delete;

    void append(const Job& job, std::string_view line) { pending_.add(job, line); }
    /// Error: the file and the reason, such as ENOSPC; nothing of it stays in the file, all is kept for the next try.
    Status flush();
    /// Sets disk blocks aside behind the file's end, so that what is written about jobs taken in now finds room.
    /// Error: as flush(). No effect on file systems that cannot (EOPNOTSUPP).
    Status reserve();
    /// Replaces the file by one that holds `table` only (written beside it, synced, renamed). Error: the old file
    /// stays.
    Status compact(const JobTable& table, std::uint64_t next_sequence);
    /// True when most of the file is about jobs that are gone: more than 64 MiB and four times its size when compact.
    /// After a compaction that failed, not before another 64 MiB.
    bool is_mostly_dead() const;
    std::uint64_t bytes() const { return bytes_; }

  private:
    JobStore(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
    Status cut_to_whole_lines();

    std::string path_;
    int fd_;
    JournalWriter pending_;
    std::uint64_t bytes_ = 0;  // of whole lines; the file may be longer only while is_torn_
    bool is_torn_ = false;
    std::uint64_t reserved_ = 0;  // bytes that the file may have before it needs more room
    std::uint64_t compact_bytes_ = 0;
    std::uint64_t compact_from_ = 0;
};

}  // namespace weir::broker::jobs
