// SPDX-License-Identifier: LGPL-3.0-only
// Owns: handing a jobspec to job-ingest and following a job to its end. RFC 14, 15 (mechanism "none"), 18, 21.
// Must not know command lines.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cmd/common/client.hpp"
#include "libsched/json/jobspec.hpp"

namespace weir::cmd {

struct Submission {
    Jobspec jobspec;
    int urgency = 16;
    std::vector<std::string> attributes;  ///< "KEY=VALUE" as set_attribute() reads them; they override the jobspec
    std::uint32_t tasks_total = 0;  ///< processes in all, fewer than slots: one broker on many nodes; 0: one a slot
    std::optional<std::uint32_t> userid;  ///< another user's name; the owner alone
};

/// The job's id. Errors: the instance's sentence (unknown queue, account, user; more than it has).
Result<std::uint64_t> submit(Client& client, const Submission& submission);

/// Hands all of them over before it waits for the first answer, so that the instance writes them to disk together. One
/// result each, in that order.
std::vector<Result<std::uint64_t>> submit_all(Client& client, const std::vector<Submission>& submissions);

struct Ending {
    int status = 0;    ///< as wait(2) gives it; -1 when the job never ran
    std::string note;  ///< the note of an exception, or "exit code 3"
    /// Its time was over or somebody canceled it, for example: it failed, whatever its program's status is.
    bool has_fatal_exception = false;
    bool is_success() const { return status == 0 && !has_fatal_exception; }
};
/// Blocks until the job is inactive. Errors: ENOENT for an unknown job.
Result<Ending> wait_for_end(Client& client, std::uint64_t id);

}  // namespace weir::cmd
