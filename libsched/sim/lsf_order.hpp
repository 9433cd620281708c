// SPDX-License-Identifier: LGPL-3.0-only
// Owns: LSF's order in a replay: queues by priority; within equal ones the dynamic priority of share accounts, which
// falls with each dispatch; then FCFS. Must not know the scheduler. Source: LSF 10.1, dispatch order of queues.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "libfairshare/algorithms/lsf_dispatch.hpp"
#include "libsched/config/policy_settings.hpp"
#include "libsched/sim/log_shares.hpp"
#include "libsched/sim/queue_order.hpp"
#include "libsched/sim/ranked_values.hpp"

namespace weir {

/// All queues share one tree (cross-queue fairshare, DISPATCH_ORDER=QUEUE). A pass is told the order in which jobs
/// would go if each could start: what does not fit is taken to have gone, until the next pass. A job's CPU time is its
/// run time on every core: a log knows no better.
class LsfOrder final : public QueueOrder {
  public:
    LsfOrder(const PolicySettings& settings, LogShares shares);

    void submitted(const SimJob& job, JobId id, Instant now) override;
    void started(const SimJob& job, JobId id, Instant now) override;
    void ended(const SimJob& job, JobId id, Instant now) override;
    /// O(nodes + waiting x depth x log siblings).
    void prioritize(Instant now, std::vector<std::pair<JobId, std::uint32_t>>& changed) override;
    bool forgets_asking() const override { return true; }

  private:
    using Party = LogShares::Party;
    struct Entry {
        Party party = 0;
        std::uint64_t place = 0;  ///< in order of submission
        double queue_priority = 0;
        std::uint32_t slots = 1;
        double committed_h = 0;
        Instant started{};
    };
    void follow_tree();
    void count_cpu(Instant now);
    static LsfJob lsf_job(const SimJob& job) { return {job.cores, 0, job.limit}; }

    LsfPolicy policy_;
    std::map<std::string, double> queues_;
    LogShares shares_;
    std::uint64_t version_;
    ShareTreePtr tree_;
    LsfHistory history_;
    RankedValues values_;
    std::vector<Entry> entries_;              ///< by id
    std::vector<std::int64_t> running_;       ///< cores by party
    std::map<std::uint64_t, JobId> waiting_;  ///< by place
    std::uint64_t places_ = 0;
    Instant counted_{};  ///< CPU time up to here is in the history
    std::vector<DynamicUse> use_;
    std::vector<JobId> order_;
};

}  // namespace weir
