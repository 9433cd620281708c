// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the eventlog guest.exec.eventlog of a job, as stock clients read it. It follows from the job's own events:
// there is no job shell, so its events say that the launcher stands for it. Must not know files, flux_t. Source:
// flux-core's job-exec (init, starting, complete, done) and job shell (shell.init, shell.start); RFC 34 (task maps).
#pragma once
#include <string>

#include "broker/services/job-manager/state/job.hpp"

namespace weir::broker::jobs {

/// One entry a line, each with a newline; empty before the start, whole once the job has finished. A later call gives
/// the same lines and perhaps more.
std::string exec_eventlog(const Job& job);

/// The ranks of the job's tasks, all of them: "0" or "0-3".
std::string task_ranks(const Job& job);

}  // namespace weir::broker::jobs
