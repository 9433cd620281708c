// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what a job that starts will cost, from what it asked for and got. Must not know: ledgers, who pays.
#pragma once
#include "modules/job-priority/jobs/job_event.hpp"
#include "modules/job-priority/settings.hpp"

namespace weir::priority {

/// Resources go by Slurm's names: cpu and node as granted; mem (MiB), gres/gpu and any other gres/NAME as asked for.
Bill bill_of(const Settings& settings, const JobRequest& request, const AllocEvent& alloc);

}  // namespace weir::priority
