// SPDX-License-Identifier: LGPL-3.0-only
// Owns: LSF's order of waiting jobs: queues by priority; within equal ones the dynamic priority of share accounts,
// which falls with each dispatch; then FCFS. With APS each job has a number. Must not know: who measures usage, the
// scheduler. Source: LSF 10.1, dispatch order of queues.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libfairshare/algorithms/lsf_dispatch.hpp"
#include "libsched/config/policy_settings.hpp"
#include "libsched/order/course.hpp"
#include "libsched/order/order_terms.hpp"
#include "libsched/order/ranked_values.hpp"

namespace weir {

/// All queues share one tree and its usage (cross-queue fairshare, DISPATCH_ORDER=QUEUE). Queues of equal priority are
/// ranked together; a queue with factors of its own is ranked by itself after them. The result is the order in which
/// jobs would be dispatched if each could start: a job that does not fit counts as dispatched until the next ranking.
class LsfRanking {
  public:
    struct Job {
        std::uint64_t place = 0;      ///< unique, in order of submission
        NodeId payer = unassociated;  ///< leaf of the tree, or what Use::leaves is indexed by
        std::uint32_t queue = 0;      ///< by queue()
        std::uint32_t slots = 1;
        Duration limit = Duration::max();         ///< run time limit; max: none
        Instant since{};                          ///< its wait counts from then
        double admin = 0;                         ///< the administrator's value, for APS
        double job_priority = 0, memory_mib = 0;  ///< for APS
    };
    /// The accounts' usage at the instant of a ranking.
    struct Use {
        const ShareTree& tree;
        std::span<const DynamicUse> use;      ///< by node; empty: nobody uses anything
        std::span<const NodeId> leaves = {};  ///< by payer; empty: payers are leaves
        NodeId leaf(NodeId payer) const {
            return leaves.empty() || payer == unassociated ? payer : leaves[payer.value];
        }
    };

    explicit LsfRanking(const PolicySettings& settings);

    /// O(log queues).
    std::uint32_t queue(const std::string& name);

    /// Inserts or updates a waiting job. Jobs have small ids, which may be used again after remove(). O(log
    /// jobs).
    void put(JobId id, const Job& job);
    /// The job stops waiting. Without effect if it does not wait. O(log jobs).
    void remove(JobId id);

    /// Appends the waiting jobs whose values differ from those appended before. Sorted by value, high to low, jobs are
    /// in LSF's order. O(nodes + waiting x depth x log siblings).
    void prioritize(const Use& use, Instant now, std::vector<std::pair<JobId, std::uint32_t>>& changed);

    /// The terms of the job's place. REQUIRES: it waits.
    OrderTerms explain(JobId id, const Use& use, Instant now) const;
    /// Why `other` is ahead of `own`. REQUIRES: both wait.
    std::string lead(JobId own, JobId other, const Use& use, Instant now) const;
    /// Under APS time alone moves jobs, when grace periods end. Assumes that usage does not change. Without submission
    /// and id: the smaller place goes first. Nothing without APS: time changes nothing.
    std::optional<Course> course(JobId id, const Use& use) const;

  private:
    struct Queue {
        double priority = 0;
        std::uint32_t group = 0;  ///< 0: ranked by the common factors; else by itself
        LsfFactors factors;
    };
    void order_by_users(const Use& use);
    void order_by_aps(const Use& use, Instant now);
    std::array<double, aps_parts> aps_values(const Job& job, NodeId leaf, const LsfDispatch& users) const;
    OrderTerms explain_aps(const Job& job, const Use& use, Instant now) const;

    LsfPolicy policy_;
    std::map<std::string, double> queue_priorities_;
    std::map<std::string, std::uint32_t> queue_index_;
    std::vector<Queue> queues_;
    std::vector<Job> jobs_;                   ///< by id
    std::map<std::uint64_t, JobId> waiting_;  ///< by place
    std::vector<JobId> order_;
    RankedValues values_;
};

}  // namespace weir
