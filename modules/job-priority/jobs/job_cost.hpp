// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the cost of a job at its start, from its request and its resources. Must not know: ledgers, payers.
#pragma once
#include "modules/job-priority/jobs/job_event.hpp"
#include "modules/job-priority/settings.hpp"

namespace weir::priority {

/// What a job is billed in advance: at most a year of its wall time. A user may ask for any time, and the ledgers must
/// be able to read back what they wrote: with a half-life of an hour or more they can for 2^28 cores.
inline constexpr Duration bill_time_max = std::chrono::hours(24 * 365);

/// Resources have Slurm's names: cpu and node as allocated; mem (MiB), gres/gpu and any other gres/NAME as requested.
Bill bill_of(const Settings& settings, const JobRequest& request, const AllocEvent& alloc);

}  // namespace weir::priority
