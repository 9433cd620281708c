// SPDX-License-Identifier: LGPL-3.0-only
// Owns: reading a job's kept output, wherever in the instance tree the job ran.
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

/// From byte `offset` on. A job routed to a child instance is asked for there. Errors: ENOENT when nothing is kept.
Result<JobOutput> job_output(Client& client, std::uint64_t id, std::int64_t offset);

}  // namespace weir::cmd
