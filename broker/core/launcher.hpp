// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the small process between job-exec and a job's tasks: it starts them, reports how they end, and ensures that no
// descendant outlives the job or the broker. A death signal would reach the tasks only, and is lost at setuid programs.
// Must not know messages or the broker.
// Source: prctl(2) PR_SET_CHILD_SUBREAPER, PR_SET_PDEATHSIG.
#pragma once

namespace weir::broker {

constexpr const char* launch_option = "--launch-task";

/// Arguments: PARENT_PID NTASKS INPUT COMMAND [ARGUMENT...]. File descriptors: 0 control, 1 report, 2 the tasks'
/// standard error, 3 their output. Each task has a PMI-1 connection (PMI_FD, PMI_RANK, PMI_SIZE); FLUX_JOB_ID and
/// WEIR_JOB_LEVEL of the environment go to a Flux instance that runs as this job. Control: each byte is a signal number
/// for the tasks' process groups, SIGKILL for all descendants; end of file means that the broker is gone: kill and
/// exit. Report, a line each: "failed RANK ERRNO" (the command cannot be executed; nothing runs), "unreadable RANK
/// ERRNO" (the input cannot be opened; nothing runs), "started", "exit RANK STATUS" with a wait status. It is closed
/// when no descendant is left. \return the exit code of the process: 0 unless it could not begin.
int launch_tasks(int argc, char** argv);

}  // namespace weir::broker
