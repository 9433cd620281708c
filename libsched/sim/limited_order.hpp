// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the limits of a share tree in a replay, in front of any order: a job over a limit has priority 0 until it is
// admitted, by the code that job-priority uses. Must not know policies or resources.
#pragma once
#include <memory>
#include <vector>

#include "libfairshare/limits/admission.hpp"
#include "libsched/config/policy_settings.hpp"
#include "libsched/sim/log_shares.hpp"
#include "libsched/sim/queue_order.hpp"
#include "libsched/sim/usage_book.hpp"

namespace weir {

class LimitedOrder final : public QueueOrder {
  public:
    /// `inner` orders the admitted jobs; nullptr: by submission. REQUIRES: usage decays by half-life or not at all.
    LimitedOrder(const PolicySettings& settings, LogShares shares, std::unique_ptr<QueueOrder> inner);

    /// A job that can never be admitted, and one that exceeds the limit of active jobs, never starts.
    void submitted(const SimJob& job, JobId id, Instant now) override;
    void started(const SimJob& job, JobId id, Instant now) override;
    void ended(const SimJob& job, JobId id, Instant now) override;
    /// As `inner`, and O(waiting log waiting) if anything happened since, or usage may have decayed below a limit.
    void prioritize(Instant now, std::vector<std::pair<JobId, std::uint32_t>>& changed) override;
    /// Where `inner` has passes at intervals, jobs are admitted at these; else as soon as usage allows.
    Instant wakes() const override {
        const Instant inner = inner_ ? inner_->wakes() : never;
        return inner != never ? inner : lets_go_;
    }
    Instant lets_go() const override { return lets_go_; }

    /// The counts of the tree's nodes. An admitted job counts as running.
    const LimitCounts& counts() const { return admission_.counts(); }
    const ShareTree& tree() const { return *shares_.tree(); }

  private:
    struct Entry {
        Admission::Id number = 0;  ///< in order of submission, its lower bits the id
        NodeId payer;
        std::uint32_t priority = priority_min;  ///< by inner_
    };
    static constexpr int id_bits = 24;
    static LimitedJob limited(const SimJob& job) { return {1, job.cores, job.limit}; }

    LogShares shares_;
    std::uint64_t version_;
    UsageBook usage_;
    std::unique_ptr<QueueOrder> inner_;
    Admission admission_;
    std::vector<Entry> entries_;  ///< by id
    std::uint64_t submitted_ = 0;
    Instant lets_go_ = never;
    std::vector<JobId> fresh_;  ///< without a yielded priority yet
    std::vector<std::pair<JobId, std::uint32_t>> by_inner_;
};

}  // namespace weir
