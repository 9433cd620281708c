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
#include "libsched/sim/site_values.hpp"

namespace weir {

/// All queues share one tree and what it has used (cross-queue fairshare, DISPATCH_ORDER=QUEUE); queues of one priority
/// go as one, but for those with factors of their own, which go after it, each by itself. With APS the order is that of
/// the jobs' absolute priorities. A pass is told the order in which jobs
/// would go if each could start: what does not fit is taken to have gone, until the next pass. A job's CPU time is its
/// run time on every core: a log knows no better.
class LsfOrder final : public QueueOrder {
  public:
    /// `admin`: the administrator's values of jobs, for APS.
    LsfOrder(const PolicySettings& settings, LogShares shares, SiteValuesPtr admin = {});

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
        std::uint32_t queue = 0;  ///< in queues_
        Instant submit{};
        double admin = 0;
        std::uint32_t slots = 1;
        double committed_h = 0;
        Instant started{};
    };
    /// A queue of the log.
    struct Queue {
        double priority = 0;
        std::uint32_t group = 0;  ///< 0: by the common factors; else one of its own
        LsfFactors factors;
    };
    std::uint32_t queue_of(std::uint16_t number);
    void order_by_users();
    void order_by_aps(Instant now);
    void follow_tree();
    void count_cpu(Instant now);
    static LsfJob lsf_job(const SimJob& job) { return {job.cores, 0, job.limit}; }

    LsfPolicy policy_;
    std::map<std::string, double> queue_priorities_;
    SiteValuesPtr admin_;
    std::map<std::uint16_t, std::uint32_t> queue_index_;
    std::vector<Queue> queues_;
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
