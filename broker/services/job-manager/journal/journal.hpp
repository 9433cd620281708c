// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the text of the job journal: its lines, their numbers and checksums, and reading a whole journal back into
// jobs. Must not know: the file (job_store.hpp), flux_t, what a restart does to the jobs. Format: JSON lines. A header
// {"weir-jobs":2,"max_jobid":I,"next_seq":I}, then one line an event:
//   {"id":I,"event":{..}} plus "seq","jobspec","environment" at submit and "R" at alloc. An environment that an earlier
//   line has is named by that line's number: "environment_of":I. Each line ends with
//   ,"n":I,"crc":"X"}: its number from 0 on, and the CRC-32 of the line up to ,"crc": in eight hexadecimal digits.
//   A line whose event is launch_mark is of the journal alone, not of the job's eventlog. Version 1 has
//   neither number nor checksum; it is read, and written anew as version 2.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "broker/services/job-manager/codecs/jobspec.hpp"
#include "broker/services/job-manager/tables/job_table.hpp"

namespace weir::broker::jobs {

/// The contents of a journal: jobs in order of submission, folded to their last event.
struct RestoredJobs {
    std::vector<std::unique_ptr<Job>> jobs;
    JobId max_id = 0;
    std::uint64_t next_sequence = 0;
    /// Time of the latest event, microseconds.
    std::int64_t last_us = 0;
    /// 1 or 2; 0 = there was no line at all.
    int version = 0;
    /// The number that the next line gets, and the bytes of the whole lines.
    std::uint64_t next_line = 0;
    std::uint64_t bytes = 0;
    /// Not empty if the last line was torn (no newline) and was dropped.
    std::string warning;
};

/// Reads a journal. Error: "NAME:LINE: what is wrong. What to do": anything but a torn last line refuses the file,
/// lines that are missing, out of place or changed included. O(size).
Result<RestoredJobs> read_journal(std::string_view text, const std::string& name, EnvironmentPool& environments);

/// Makes the lines of a journal.
class JournalWriter {
  public:
    /// The header. Lines count from here.
    void begin(JobId max_id, std::uint64_t next_sequence);
    /// Continues a journal that has `next_line` lines.
    void go_on(std::uint64_t next_line) { next_line_ = next_line; }
    /// One event of `job`; `line` is the encoded event.
    void add(const Job& job, std::string_view line);
    /// All events of one job, as if they had just happened.
    void add(const Job& job);
    /// What was added and not cleared.
    const std::string& text() const { return text_; }
    /// Gives back much memory, too.
    void clear_text();
    std::uint64_t next_line() const { return next_line_; }

  private:
    /// Closes the object that began at byte `begin` of the text.
    void seal(std::size_t begin);
    void add_environment(const std::shared_ptr<const std::string>& environment);

    struct Written {
        std::weak_ptr<const std::string> environment;
        std::uint64_t line;
    };
    std::string text_;
    std::uint64_t next_line_ = 0;
    std::unordered_map<const std::string*, Written> environments_;  ///< of lines that this writer made
};

}  // namespace weir::broker::jobs
