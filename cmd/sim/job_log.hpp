// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a workload log (SWF) or a job journal as a stream of jobs that can be replayed on a machine, in order of
// submission; lines that cannot be replayed are named. Must not know policies or what happens to the jobs.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libfairshare/base/json/json.hpp"
#include "libsched/sim/journal.hpp"
#include "libsched/sim/log_names.hpp"
#include "libsched/sim/sim_job.hpp"
#include "libsched/sim/swf.hpp"

namespace weir::cmd {

class JobLog {
  public:
    struct Options {
        bool lenient = false;    ///< what cannot be replayed is skipped and counted instead of being an error
        std::int64_t cores = 0;  ///< the machine; 0: as the log says
        /// A job that ran longer than requested counts as having requested its run time.
        bool requests_cover_runs = false;
    };
    /// The numbers of jobs for which a replay differs from the log.
    struct Remarks {
        std::uint64_t overran = 0;          ///< ran longer than requested
        std::uint64_t without_request = 0;  ///< requested no time
        std::uint64_t with_preceding = 0;   ///< preceding job or think time (SWF's fields 17 and 18), which are ignored
    };
    /// Reads up to the first job; "-" is standard input. Errors: no such file, no job in it, a machine of unknown size;
    /// each says what to do.
    static Result<JobLog> open(const std::string& path, Options options);

    /// The next job, nothing at the end. Errors: "FILE:LINE: what" with the remedy.
    Result<std::optional<SimJob>> next();

    const std::string& path() const { return path_; }  ///< or "standard input"
    std::int64_t cores() const { return options_.cores; }
    /// Comments that stand before the first job, without ';'; of a journal the names of its groups and queues.
    std::vector<std::string> header() const;
    /// What a journal calls its groups and queues; empty for a workload log, which has numbers alone.
    const LogNames& names() const { return names_; }
    /// A sentence about valid parts of the log that are not replayed; empty: none.
    std::string remark() const;
    /// Of the jobs given until now.
    const Remarks& remarks() const { return remarks_; }
    /// What was skipped until now.
    Skipped skipped() const;
    double part_read() const;

  private:
    JobLog(std::string path, Options options) : path_(std::move(path)), options_(options) {}
    Result<std::optional<SimJob>> read();
    /// The next line's job, good or not; nothing at the end.
    Result<std::optional<Result<SimJob>>> read_job();
    SimJob noted(SimJob job);
    Error at_job(const std::string& what) const;
    Error refusal(const Error& error) const;
    /// Why a job cannot be replayed here, if it cannot: the kind, and the job's own case.
    std::optional<std::pair<std::string, std::string>> obstacle(const Result<SimJob>& job) const;

    std::string path_;
    Options options_;
    std::optional<SwfReader> swf_;  ///< none: a journal
    JournalJobs journal_;
    LogNames names_;
    std::size_t journal_next_ = 0;
    std::optional<SimJob> first_;  ///< read by open(), not yet given
    Instant last_submit_{};
    Skipped skipped_;  ///< jobs that are well written but cannot be replayed
    Remarks remarks_;
};

/// A line of text for each kind of what was left out: "2 (no job line), first: log.swf:5: ...".
std::vector<std::string> skipped_lines(const Skipped& skipped);
/// "3 ran longer than requested, 2 requested no time"; empty: neither.
std::string requests_text(const JobLog::Remarks& remarks);
/// [{"why", "count", "first"}, ...].
Json skipped_json(const Skipped& skipped);

}  // namespace weir::cmd
