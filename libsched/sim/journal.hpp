// SPDX-License-Identifier: LGPL-3.0-only
// Owns: reading the jobs that a cluster ran from its job-manager's journal (jobs.journal in its state directory), as
// jobs to replay. Must not know how they are used. Format: JSON lines; events by RFC 21; jobspec RFC 25, R RFC 20.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "libsched/sim/line_reader.hpp"
#include "libsched/sim/sim_job.hpp"
#include "libsched/sim/skipped.hpp"

namespace weir {

struct JournalJobs {
    /// Jobs that ran to their end, by submission, then job id. A job counts as submitted when it lacked nothing but
    /// resources (its `depend` event), and runs from alloc to free, because a replay has to place the resources that it
    /// held. Times are microseconds of the epoch; users are userids, groups and queues places in the lists below, from
    /// 1.
    std::vector<SimJob> jobs;
    std::vector<std::string> accounts;  ///< accounts[g - 1] is the bank of group g
    std::vector<std::string> queues;
    std::uint64_t never_ran = 0;   ///< ended without resources
    std::uint64_t unfinished = 0;  ///< pending or running when the journal ends
    /// Left out: child instances that serve queues. Their resources are held by jobs of this journal, which are here.
    std::uint64_t instances = 0;
    Skipped skipped;       ///< lines, where lenient
    bool is_torn = false;  ///< the last line has no end and was left out: its writer was killed
};

/// A line of a journal is at most this long: a jobspec with its environment.
inline constexpr std::size_t journal_line_max = 16 * 1024 * 1024;

/// Whether a file that begins with this byte is a journal; no workload log begins with it.
constexpr bool is_journal(char first_byte) {
    return first_byte == '{';
}

/// Reads to the end; a line at a time, 150 bytes are kept of a job. Errors: "FILE:LINE: what" for a broken line, or
/// with `lenient` none: the unreadable rest of the file is skipped too; a lenient reader loses the jobs of broken
/// lines.
Result<JournalJobs> read_journal(LineReader lines, bool lenient);

}  // namespace weir
