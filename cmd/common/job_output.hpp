// SPDX-License-Identifier: LGPL-3.0-only
// Owns: reading the stored output of a job, from the instance in which it ran.
#pragma once
#include <cstdint>
#include <string>

#include "cmd/common/client.hpp"

namespace weir::cmd {

struct JobOutput {
    std::string data;  ///< UTF-8; invalid bytes are replaced
    bool is_complete = false;
    std::string path;  ///< of the file that keeps it
};

/// What the job wrote: standard output, then standard error where that is in a file of its own. For a job routed to a
/// child instance the child is asked. Errors: ENOENT if no output is stored.
Result<JobOutput> job_output(Client& client, std::uint64_t id);

}  // namespace weir::cmd
