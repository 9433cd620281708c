// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the order by a weighted sum of factors: a waiting job's inputs for PriorityEngine, and which jobs are to be
// recomputed. Must not know who evaluates fair share.
#pragma once
#include "libsched/order/order.hpp"
#include "libsched/priority/engine.hpp"

namespace weir::order {

/// Between full passes it recomputes the jobs that were put, and those of payers with a start or an end.
class Multifactor : public OrderBase {
  public:
    static constexpr PolicyKind policy = PolicyKind::multifactor;
    static constexpr const char* assumes = "while shares, usage and the jobs themselves stay as they are";
    static constexpr GoesBy goes_by = GoesBy::factors;
    static constexpr bool is_paced = true;

    Multifactor(const PolicySettings& settings, const MachineSize& machine);
    bool configure(const PolicySettings& settings, Instant at);
    void set_machine(const MachineSize& machine, Instant at);
    bool remembers_passes() const { return engine_.settings().only_raises; }
    /// The priority of the next payer (PolicySettings::associations), where the site sets any. O(jobs).
    void add_payer(double priority);

    void put(JobId id, const WaitingJob& job, Instant at);
    void pause(JobId id, Instant at) { remove(id, at); }
    /// Without effect if the job does not wait.
    void remove(JobId id, Instant at);
    void started(std::optional<JobId> id, const Holder& holder, Instant at);
    void ended(const Holder& holder, Instant) { mark(holder.payer); }
    /// REQUIRES: use.factors.
    void prioritize(const Use& use, Instant now, Scope scope, Values& values);
    OrderTerms explain(JobId id, const Use& use, Instant now) const;
    std::string lead(JobId own, JobId other, const Use& use, Instant now) const;
    /// Assumes that fair-share factors do not change.
    std::optional<Course> course(JobId id, const Use& use) const;

    /// How many priorities were computed.
    std::uint64_t computed() const { return computed_; }

  private:
    struct Entry {
        PriorityEngine::Slot slot;
        std::uint32_t payer = nobody;
        std::uint32_t index = 0;  ///< in its payer's list
        bool waits = false;
    };
    JobExtras extras_of(const WaitingJob& job) const;
    void join(JobId id, std::uint32_t payer);
    void leave(const Entry& entry);
    void mark(std::uint32_t payer);
    void recompute(JobId id, Instant now, std::span<const double> factors);
    void evaluate_jobs_of(std::uint32_t payer, Instant now, std::span<const double> factors);

    PolicySettings settings_;
    bool has_extras_;
    ClassIndex queues_, qos_;
    PriorityEngine engine_;
    std::vector<Entry> entries_;                   ///< by id
    std::vector<std::vector<JobId>> by_payer_;     ///< waiting jobs, unsorted
    std::vector<JobId> fresh_;                     ///< not recomputed since they were put
    std::vector<std::uint32_t> marked_;            ///< payers whose jobs started or ended since the last pass
    std::vector<PriorityEngine::Change> changes_;  // kept for its memory
    std::uint64_t computed_ = 0;
};

}  // namespace weir::order
