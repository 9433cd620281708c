// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the text of the job journal: its lines, their numbers and checksums, and reading a whole journal back into
// jobs. Must not know: the file (job_store.hpp), flux_t, what a restart does to the jobs. Format: JSON lines. A header
// {"weir-jobs":3,"max_jobid":I,"next_seq":I}, then one line an event:
//   {"id":I,"event":{..}} plus "seq","jobspec","environment" at submit and "R" at alloc. An environment that an earlier
//   line has is named by that line's number: "environment_of":I. Each line ends with
//   ,"n":I,"crc":"X"}: its number from 0 on, and the CRC-32 of the line up to ,"crc": in eight hexadecimal digits.
//   The last line of each flush has "end":true before its number. What no such line follows is a part of a flush, which
//   a process that was killed or a power failure left; nobody was told of it. The first line of each flush has
//   "synced":true: all lines before it were synced when it was written. A bad line that such a mark follows is damage.
//   Each line of a file that was written and synced as a whole has both. "synced":false: from here on nothing is
//   synced. A line whose event is launch_mark or launch_refused_mark is of the journal alone, not of the job's
//   eventlog. Version 1 has neither number nor checksum, version 2 no ends of flushes; both are read, and written anew
//   as version 3.
#pragma once
#include <memory>
#include <optional>
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
    /// 1, 2 or 3; 0 = there was no line at all.
    int version = 0;
    /// The number that the next line gets, and the bytes of the whole flushes.
    std::uint64_t next_line = 0;
    std::uint64_t bytes = 0;
    /// Not empty if the last flush was not whole and was dropped.
    std::string warning;
};

/// The version that is written.
inline constexpr int journal_version = 3;

/// Reads a journal. Error: "NAME:LINE: what is wrong. What to do": anything but what a process that was killed, or a
/// power failure, leaves of the last flush refuses the file, lines that are missing, out of place or changed included.
/// O(size).
Result<RestoredJobs> read_journal(std::string_view text, const std::string& name, EnvironmentPool& environments);

/// Makes the lines of a journal.
class JournalWriter {
  public:
    /// Whether the text of each flush is synced before the next one is written; true unless set.
    void set_synced(bool is_synced) { is_synced_ = is_synced; }
    /// The header of a file that is written as a whole, until clear_text(). Lines count from here.
    void begin(JobId max_id, std::uint64_t next_sequence);
    /// Continues a journal that has `next_line` lines.
    void go_on(std::uint64_t next_line) { next_line_ = next_line; }
    /// One event of `job`; `line` is the encoded event.
    void add(const Job& job, std::string_view line);
    /// All events of one job, as if they had just happened.
    void add(const Job& job);
    /// The lines that were added and not cleared: one flush, if nothing is added before clear_text().
    const std::string& text();
    /// About the bytes of text().
    std::size_t size() const { return text_.size(); }
    /// Also releases the memory of a large text.
    void clear_text();

  private:
    void open_line();
    /// Closes the object of the line that is open, if one is.
    void close_line(bool is_end);
    void add_environment(const std::shared_ptr<const std::string>& environment);

    struct Written {
        std::weak_ptr<const std::string> environment;
        std::uint64_t line;
    };
    std::string text_;
    std::optional<std::size_t> open_;  ///< where the line begins that has no end yet
    bool is_synced_ = true;
    bool is_unsynced_told_ = false;
    bool is_whole_ = false;  ///< the text begins with the header
    std::uint64_t next_line_ = 0;
    std::unordered_map<const std::string*, Written> environments_;  ///< of lines that this writer made
};

}  // namespace weir::broker::jobs
