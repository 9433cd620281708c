// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the environment of a job's tasks. Must not know processes.
// Source: flux-environment(7): FLUX_URI, FLUX_JOB_ID, FLUX_JOB_ID_PATH, FLUX_JOB_SIZE, FLUX_JOB_NNODES,
// FLUX_JOB_TMPDIR. WEIR_CLOCK is the parent's clock, which a child broker takes over; WEIR_JOB_LEVEL, WEIR_JOB_LIMITS
// and WEIR_TASK_GPUS are for the launcher.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "broker/services/exec_spec.hpp"
#include "libfairshare/base/marks.hpp"

namespace weir::broker {

/// The instance's own values; the same for all its jobs.
struct ExecPlace {
    std::string uri;         // local-uri of this instance
    std::string jobid_path;  // "/" or "/f1/f2"
    std::string clock;       // "SCALE ZERO": a weir-broker that runs as a job takes this clock
    int level = 0;           // instance-level
    /// It is a job of one node of an instance above. It then counts its gpus from zero, and was told which they are.
    bool has_own_gpus = false;
};

/// NAME=VALUE of the jobspec's environment, or of the broker's where it names none, plus the variables of this job.
/// \param marks what {{NAME}} stands for in values. \param folder the job's temporary folder.
std::vector<std::string> task_environment(const ExecSpec& spec, const ExecPlace& place, const std::string& jobid,
                                          const Marks& marks, const std::string& folder);

}  // namespace weir::broker
