// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the history of each job, read from the job journals of the parent and of the children. It is independent of any
// ledger. RFC 18, 21. Must not know shares.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cmd/common/client.hpp"
#include "cmd/demo/report.hpp"

namespace weir::cmd {

/// One job of one journal.
struct JournalJob {
    std::uint64_t upstream = 0;  ///< the parent's job of which it is the copy; 0: none
    std::uint32_t userid = 0;
    std::string account, queue, result;
    std::int64_t cores = 0;  ///< of its R
    bool has_started = false;
    Instant submit{}, alloc{}, free{};
    Duration requested{};
    std::vector<PriorityStep> priorities;
    std::vector<Instant> hand_downs;
    Instant clean{};
};

class Journal {
  public:
    /// Reads one answer of job-manager.events-journal. Returns false at the end of the backlog.
    bool take(json_t* answer);
    const std::map<std::uint64_t, JournalJob>& jobs() const { return jobs_; }

  private:
    std::map<std::uint64_t, JournalJob> jobs_;
};

/// The whole backlog of the instance at `uri`.
Result<Journal> read_journal(const std::string& uri);

/// Joins the parent's jobs with the child that ran each. `names`: users by id.
std::vector<JobRecord> join(const Journal& parent, const std::map<std::string, Journal>& children,
                            const std::map<std::uint32_t, std::string>& names);

}  // namespace weir::cmd
