// SPDX-License-Identifier: LGPL-3.0-only
// Owns: reading the stored output of a job, from the instance in which it ran.
#pragma once
#include <cstdint>
#include <string>

#include "cmd/common/client.hpp"
#include "cmd/common/output_log.hpp"

namespace weir::cmd {

/// What the job wrote: standard output, then standard error where that is in a file of its own; of a stock Flux, which
/// keeps both in one log, in the order of that log. For a job routed to a child instance the child is asked. Errors:
/// ENOENT if no output is stored.
Result<JobOutput> job_output(Client& client, std::uint64_t id);

}  // namespace weir::cmd
