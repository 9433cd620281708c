// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the cost of a job at its start, from its request and its resources. Must not know: ledgers, payers.
#pragma once
#include "modules/job-priority/jobs/job_event.hpp"
#include "modules/job-priority/settings.hpp"

namespace weir::priority {

/// Resources have Slurm's names: cpu and node as allocated; mem (MiB), gres/gpu and any other gres/NAME as requested.
Bill bill_of(const Settings& settings, const JobRequest& request, const AllocEvent& alloc);

}  // namespace weir::priority
