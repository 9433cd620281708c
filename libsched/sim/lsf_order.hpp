// SPDX-License-Identifier: LGPL-3.0-only
// Owns: LSF's order in a replay: what a log's jobs are to LsfRanking, and what its users have used. Must not know the
// scheduler.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "libsched/order/lsf_ranking.hpp"
#include "libsched/sim/log_shares.hpp"
#include "libsched/sim/queue_order.hpp"
#include "libsched/sim/site_values.hpp"

namespace weir {

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
        bool waits = false;
        Instant started{};
    };
    std::uint32_t queue_of(std::uint16_t number);
    void follow_tree();
    static LsfJob lsf_job(const SimJob& job) { return {job.cores, 0, job.limit}; }

    LsfRanking ranking_;
    SiteValuesPtr admin_;
    std::map<std::uint16_t, std::uint32_t> queue_index_;
    LogShares shares_;
    std::uint64_t version_;
    ShareTreePtr tree_;
    LsfHistory history_;
    std::vector<Entry> entries_;  ///< by id
    std::uint64_t places_ = 0;    ///< in order of submission
    std::vector<DynamicUse> use_;
};

}  // namespace weir
