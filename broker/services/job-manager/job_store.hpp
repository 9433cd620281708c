// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the job journal on disk: the text of its lines, reading a whole journal back into jobs, and the file.
// Must not know: flux_t, reactors, plugins; what a restart does to the jobs (restart.cpp).
// Format: JSON lines. A header {"weir-jobs":1,"max_jobid":I,"next_seq":I}, then one line an event:
//   {"id":I,"event":{..}} plus "seq","jobspec","environment" at submit and "R" at alloc. ADR 0045. A line whose event
//   is launch_mark is of the journal alone, not of the job's eventlog. ADR 0209.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "broker/services/job-manager/job_table.hpp"
#include "broker/services/job-manager/jobspec.hpp"

namespace weir::broker::jobs {

/// What a journal says. Jobs in order of submission, folded to their last event.
struct RestoredJobs {
    std::vector<std::unique_ptr<Job>> jobs;
    JobId max_id = 0;
    std::uint64_t next_sequence = 0;
    /// Time of the latest event, microseconds.
    std::int64_t last_us = 0;
    /// Not empty when the last line was torn (no newline) and was left out.
    std::string warning;
};

/// Reads a journal. Error: "NAME:LINE: what is wrong": anything but a torn last line refuses the file.
Result<RestoredJobs> read_journal(std::string_view text, const std::string& name, EnvironmentPool& environments);

/// The header line, newline included.
std::string journal_header(JobId max_id, std::uint64_t next_sequence);
/// The line of one event of `job`; `line` is the encoded event. Newline included.
void append_journal_line(std::string& out, const Job& job, std::string_view line);
/// All lines of one job, as if they had just been written.
void append_job(std::string& out, const Job& job);

/// The open file. Appends are collected and written by one write(2) a flush.
class JobStore {
  public:
    /// Reads DIRECTORY/jobs.journal if there is one, locks it. Error: file:line, or who holds the lock.
    static Result<std::unique_ptr<JobStore>> open(const std::string& directory, EnvironmentPool& environments,
                                                  RestoredJobs& restored);
    ~JobStore();
    JobStore(const JobStore&) = delete;
    JobStore& operator=(const JobStore&) = delete;

    void append(const Job& job, std::string_view line) { append_journal_line(pending_, job, line); }
    /// Error: the file and the reason; what was not written is kept for the next try.
    Status flush();
    /// Replaces the file by one that holds `table` only (written beside it, synced, renamed).
    Status compact(const JobTable& table, std::uint64_t next_sequence);
    /// True when most of the file is about jobs that are gone: more than 64 MiB and four times its size when compact.
    bool is_mostly_dead() const;
    std::uint64_t bytes() const { return bytes_; }

  private:
    JobStore(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
    std::string path_;
    int fd_;
    std::string pending_;
    std::uint64_t bytes_ = 0;
    std::uint64_t compact_bytes_ = 0;
};

}  // namespace weir::broker::jobs
