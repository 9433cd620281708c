// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the outcomes of a replay as a file: starts, CSV, SWF or JSON, one job at a time. Must not know how they were
// computed.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cmd/common/output_file.hpp"
#include "libsched/sim/sim_job.hpp"

namespace weir::cmd {

/// The head of a file, besides its jobs.
struct ReplayFacts {
    std::string log;  ///< its name without folders
    std::string scheduler;
    std::int64_t cores = 0;
    std::vector<std::string> header;  ///< the log's comments: its donors request to be named
};

enum class OutcomeFormat { starts, csv, swf, json };
/// By a file's name: .swf, .csv, .json, each also with .gz; nothing for others.
std::optional<OutcomeFormat> outcome_format(const std::string& path);

class OutcomeFile {
  public:
    static Result<OutcomeFile> create(const std::string& path, OutcomeFormat format, const ReplayFacts& facts);
    /// The next job, in the log's order. Times are seconds of the log; what is no whole second gets decimals, in SWF it
    /// is cut off.
    Status add(const Outcome& outcome);
    /// Renames the file to its final name; `is_complete` false: the file says that the replay was cut off.
    Status finish(bool is_complete);

  private:
    OutcomeFile(OutputFile file, OutcomeFormat format) : file_(std::move(file)), format_(format) {}
    OutputFile file_;
    OutcomeFormat format_;
    std::string row_;  ///< kept for its memory
    bool is_first_ = true;
};

}  // namespace weir::cmd
