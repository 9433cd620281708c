// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the pending jobs inside the priority engine: the slot of each job, and the jobs that must be recomputed at
// once.
// Must not know: users, accounts, the share tree; a job's fair-share factor is an index into an array. Under another
// policy than multifactor jobs have the priorities they are given (PolicyOrder).
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "libsched/config/engine_settings.hpp"
#include "libsched/priority/push_order.hpp"
#include "modules/job-priority/jobs/job_book.hpp"
#include "modules/job-priority/sends/pusher.hpp"
#include "modules/job-priority/settings.hpp"

namespace weir::priority {

class PendingQueue {
  public:
    PendingQueue(const Settings& settings, const MachineSize& machine);

    /// New weights, classes, machine size or associations; every job is recomputed by the next pass, after it is put
    /// again. O(jobs).
    /// \param association_priority  by factor index
    void configure(const Settings& settings, const MachineSize& machine, std::vector<double> association_priority);

    /// Adds a pending job or takes its new inputs; marks it. `factor` is its fair-share factor's index, `site` what the
    /// site's own script set.
    void put(const BookJob& job, std::uint32_t factor, double site = 0.);
    void remove(FluxJobId id);
    /// Sets the priority by the policy instead of the sum, priority_min until then; marks the job if it changes.
    /// REQUIRES: the policy is not multifactor.
    void give(PriorityEngine::Slot slot, std::uint32_t priority);
    /// Forgets every job.
    void clear();

    /// Marks every job that uses this factor: its user's usage changed. O(log marked), whatever the jobs.
    void mark_factor(std::uint32_t factor);
    bool has_marked() const { return !marked_.empty() || !marked_factors_.empty(); }

    /// Recomputes every job; changed values go to the pusher, or with PushRule::order those that the order needs. Held
    /// and expedited jobs are skipped: the job-manager itself overrides their priority. Returns the number of changes.
    /// O(jobs) over flat arrays.
    std::size_t pass(Instant now, std::span<const double> factors, Pusher& pusher);
    /// Recomputes only the marked jobs and those of marked factors; with PushRule::order they are near their places
    /// until the next pass. O(these jobs).
    std::size_t pass_marked(Instant now, std::span<const double> factors, Pusher& pusher);

    const PriorityEngine& engine() const { return engine_; }
    std::size_t size() const { return places_.size(); }
    /// Pointers stay valid until the job is removed.
    const PriorityEngine::Slot* find(FluxJobId id) const;
    std::uint32_t factor_of(FluxJobId id) const;
    /// Pending jobs that use this factor.
    std::size_t count_of(std::uint32_t factor) const;

    /// Adds the cores that pending jobs ask for, by factor index. O(slots).
    void add_cores(std::span<std::uint64_t> by_factor) const;

  private:
    /// Where a job is: in the engine, and in the list of its factor.
    struct Place {
        PriorityEngine::Slot slot;
        std::size_t index = 0;
    };
    JobExtras extras_of(const BookJob& job, double site) const;
    /// What a job has before the policy gives it more; none where the engine adds up.
    std::optional<std::uint32_t> given_first() const;
    std::size_t hand_over(Pusher& pusher);
    void join(std::uint32_t factor, Place& place);
    void leave(std::uint32_t factor, const Place& place);

    PriorityEngine engine_;
    PushOrder order_;
    ClassIndex queue_index_;
    ClassIndex qos_index_;
    Settings settings_;
    std::unordered_map<FluxJobId, Place> places_;
    std::unordered_map<std::uint32_t, std::vector<PriorityEngine::Slot>> by_factor_;  // in no order
    std::set<FluxJobId> marked_;
    std::set<std::uint32_t> marked_factors_;
    std::vector<PriorityEngine::Change> changes_;  // kept for its memory
};

}  // namespace weir::priority
