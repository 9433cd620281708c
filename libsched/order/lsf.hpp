// SPDX-License-Identifier: LGPL-3.0-only
// Owns: LSF's order: a waiting job's inputs for LsfRanking. Must not know who measures the accounts' usage.
#pragma once
#include "libsched/order/lsf_ranking.hpp"
#include "libsched/order/order.hpp"

namespace weir::order {

/// Each query ranks all jobs anew: the slots of a job that started count at once.
class Lsf : public OrderBase {
  public:
    static constexpr PolicyKind policy = PolicyKind::lsf;
    static constexpr const char* assumes =
        "while dynamic priorities, which fall and rise as jobs start, run and end, stay as they are";
    static constexpr GoesBy goes_by = GoesBy::dynamic_use;
    static constexpr bool wants_fresh_use = true;
    static constexpr bool moves_by_time = false;

    explicit Lsf(const PolicySettings& settings, const MachineSize& = {})
        : settings_(settings.lsf), queues_(settings.queues), ranking_(settings) {}
    bool configure(const PolicySettings& settings, Instant) {
        return settings.policy == policy && settings.lsf == settings_ && settings.queues == queues_;
    }
    void put(JobId id, const WaitingJob& job, Instant) {
        ranking_.put(id, {.place = job.place,
                          .payer = NodeId{job.payer},
                          .queue = ranking_.queue(job.queue),
                          .slots = std::max(job.cores, 1U),
                          .limit = job.limit,
                          .since = job.since,
                          .admin = job.site,
                          .job_priority = static_cast<double>(job.urgency),
                          .memory_mib = job.memory_mib});
    }
    void pause(JobId id, Instant) { ranking_.remove(id); }
    void remove(JobId id, Instant) { ranking_.remove(id); }
    void started(std::optional<JobId> id, const Holder&, Instant) {
        if (id) {
            ranking_.remove(*id);
        }
    }
    /// REQUIRES, here and below: use.tree.
    void prioritize(const Use& use, Instant now, Scope, Values& values) { ranking_.prioritize(of(use), now, values); }
    OrderTerms explain(JobId id, const Use& use, Instant now) const { return ranking_.explain(id, of(use), now); }
    std::string lead(JobId own, JobId other, const Use& use, Instant now) const {
        return ranking_.lead(own, other, of(use), now);
    }
    std::optional<Course> course(JobId id, const Use& use) const { return ranking_.course(id, of(use)); }

  private:
    static LsfRanking::Use of(const Use& use) { return {*use.tree, use.dynamic, use.leaves}; }

    LsfPolicy settings_;
    std::map<std::string, double> queues_;
    LsfRanking ranking_;
};

}  // namespace weir::order
