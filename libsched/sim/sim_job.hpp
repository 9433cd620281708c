// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a job of a replay before it runs, and its outcome. Must not know the format of a log, nor how results are used.
#pragma once
#include <cstdint>
#include <string>

#include "libfairshare/base/result.hpp"
#include "libsched/job.hpp"
#include "libsched/sim/swf.hpp"

namespace weir {

/// A job of a log. Users, groups, queues and partitions are the log's numbers; 0: not known.
struct SimJob {
    std::int64_t number = 0;  ///< the log's, for messages and results
    Instant submit;
    Duration run{};    ///< actual
    Duration limit{};  ///< requested; all that a scheduler knows of `run`, which may be longer; max: none requested
    std::uint32_t cores = 1;
    std::uint32_t user = 0;
    std::uint32_t group = 0;
    std::uint16_t queue = 0;
    std::uint16_t partition = 0;
};

/// From a log line. A job that requests no time has no limit. Error names the job when it cannot be replayed (no
/// processors, negative times).
Result<SimJob> sim_job(const SwfJob& job);

/// An error that names the job: "job 7 " and what is wrong with it.
Error about(const SimJob& job, const std::string& what);
/// Whether a machine of `cores` cores can replay it behind a job that was submitted at `previous`. Errors, each naming
/// the job: larger than the machine, no cores, a negative time, an earlier submission, an end that no number holds.
Status replayable(const SimJob& job, Instant previous, std::uint64_t cores);

/// A job that has run, or that was cut off by the end of a replay.
struct Outcome {
    SimJob job;
    Instant start;
    std::uint64_t place = 0;  ///< in the log, from 0
    Instant end() const { return start + job.run; }
    Duration wait() const { return start - job.submit; }
};

}  // namespace weir
