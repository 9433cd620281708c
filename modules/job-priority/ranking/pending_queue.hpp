// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the pending jobs inside the priority engine: the slot of each job, and the jobs that must be recomputed at
// once.
// Must not know: users, accounts, the share tree; a job's fair-share factor is an index into an array. Under any policy
// but multifactor a job's priority is set from outside (PolicyOrder).
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "libsched/config/engine_settings.hpp"
#include "libsched/priority/head_order.hpp"
#include "libsched/priority/push_order.hpp"
#include "modules/job-priority/jobs/job_book.hpp"
#include "modules/job-priority/ranking/number_bases.hpp"
#include "modules/job-priority/sends/order_feed.hpp"
#include "modules/job-priority/sends/pusher.hpp"
#include "modules/job-priority/settings.hpp"

namespace weir::priority {

/// The known facts about the scheduler.
struct SchedulerView {
    bool takes_order = false;  ///< of all jobs, from this module and not from the job-manager
    std::size_t depth = 0;     ///< jobs that it looks at, where it does not; 0: unknown
    friend bool operator==(const SchedulerView&, const SchedulerView&) = default;
};

/// Why a pending job is put.
enum class PutCause : std::uint8_t {
    job,       ///< it is new, or it changed itself: its priority may fall
    settings,  ///< the tree, the users, the machine or the settings changed: with only_raises it does not fall
};

class PendingQueue {
  public:
    /// From so many waiting jobs on a queue is deep: to seek a place among them costs a stock Flux a twentieth of what
    /// it spends on a job otherwise.
    static constexpr std::size_t deep_queue = 1'000;

    /// The instant for which priorities are computed, and the fair-share factors then.
    struct Moment {
        Instant now;
        std::span<const double> factors;
    };

    PendingQueue(const Settings& settings, const MachineSize& machine);

    /// New weights, classes, machine size or associations; every job is recomputed by the next pass, after it is put
    /// again. O(jobs).
    /// \param association_priority  by factor index
    void configure(const Settings& settings, const MachineSize& machine, std::vector<double> association_priority);

    /// Adds a pending job or takes its new inputs; marks it. `factor` is its fair-share factor's index, `site` what the
    /// site's own script set, `from_above` the parent instance's priority, which overrides any policy.
    void put(const BookJob& job, std::uint32_t factor, double site = 0.,
             std::optional<std::uint32_t> from_above = std::nullopt, PutCause cause = PutCause::job);
    void remove(FluxJobId id);
    /// The new job has this first value from the plugin, or is to get it. With PushRule::head it stays until the next
    /// full pass.
    void expect(FluxJobId id, std::uint32_t number) { places_.at(id).expected = number; }
    /// The number of a new job like this that has not waited. O(1).
    std::uint32_t first_number(JobInputs like, const Moment& at);
    /// The first number of any new job in a deep queue of a scheduler that takes the order: the lowest, so that the
    /// job-manager need not seek the job's place; its priority follows for display. None in any other queue.
    std::optional<std::uint32_t> lowest_first() const {
        const bool is_late = has_head() && scheduler_.takes_order && size() >= deep_queue;
        return is_late ? std::optional(priority_min) : std::nullopt;
    }
    /// The factors have other indices, or another meaning: every job is put again, and gets its number as of now.
    void renumber() { bases_.clear(); }
    /// Whether a limit or a cap holds a job back: such a job has no place in the head.
    void hold_back(FluxJobId id, bool is_held_back);
    /// Sets the priority by the policy instead of the sum, priority_min until then; marks the job if it changes. A
    /// priority from above stays. REQUIRES: the policy is not multifactor.
    void set_priority(PriorityEngine::Slot slot, std::uint32_t priority);
    /// Forgets every job.
    void clear();

    /// Marks every job that uses this factor: its user's usage changed. O(log marked), whatever the jobs.
    void mark_factor(std::uint32_t factor) {
        if (count_of(factor) != 0) {
            marked_factors_.insert(factor);
        }
    }
    /// Where jobs are routed: marks every job whose factor is not as `before`. Their values go down to children, whose
    /// order is that of all, so no two may be of different evaluations. O(factors).
    void mark_changed(std::span<const double> before, std::span<const double> factors);
    bool has_marked() const { return marked_now_ != 0 || !marked_factors_.empty(); }

    /// Recomputes every job; changed values go to the pusher, or with PushRule::order those that the order needs; with
    /// PushRule::head the numbers of new jobs, and all for display if the scheduler takes the order. Held and expedited
    /// jobs are skipped: the job-manager itself overrides their priority. Returns the number of changes.
    /// O(jobs) over flat arrays.
    std::size_t pass(Instant now, std::span<const double> factors, Pusher& pusher);
    /// Recomputes only the marked jobs and those of marked factors; with PushRule::order they are near their places
    /// until the next pass. O(these jobs). With PushRule::head only the marked jobs: what a factor changes is seen by
    /// push_head().
    std::size_t pass_marked(Instant now, std::span<const double> factors, Pusher& pusher);

    /// With PushRule::head: brings the head into order in the job-manager, or all jobs at a scheduler that takes the
    /// order. O(groups + jobs that changed), besides the depth.
    /// \param is_full  the pass was: jobs that age and jobs that do not are compared as of `now`
    void push_head(Moment at, bool is_full, Pusher& job_manager, OrderFeed& scheduler);
    /// The receiver lost its values, or the receiver or the depth changed.
    void set_scheduler(const SchedulerView& scheduler);
    /// Whether only the first jobs are kept in order in the job-manager or the scheduler.
    bool has_head() const { return settings_.push == config::PushRule::head && !settings_.only_raises && !is_routed_; }
    /// Whether jobs are routed to children or came from the parent: their priorities go down, so PushRule::head acts as
    /// numbers: a child's order must be that of all. True: this changed, and a full pass is due.
    bool set_routed(bool is_routed);
    bool is_routed() const { return is_routed_; }
    const SchedulerView& scheduler() const { return scheduler_; }

    const PriorityEngine& engine() const { return engine_; }
    std::size_t size() const { return places_.size(); }
    bool is_from_above(FluxJobId id) const;
    /// Pointers stay valid until the job is removed.
    const PriorityEngine::Slot* find(FluxJobId id) const;
    std::uint32_t factor_of(FluxJobId id) const;
    /// Pending jobs that use this factor.
    std::size_t count_of(std::uint32_t factor) const {
        return factor < by_factor_.size() ? by_factor_[factor].size() : 0;
    }

    /// Adds the cores that pending jobs request, by factor index. O(slots).
    void add_cores(std::span<std::uint64_t> by_factor) const;

  private:
    /// Where a job is: in the engine, and in the list of its factor.
    struct Place {
        PriorityEngine::Slot slot;
        std::uint32_t expected = 0;    ///< by expect(); 0: none
        std::uint64_t marked_for = 0;  ///< the round in which it was marked last; 0: never
        std::size_t index = 0;
        bool is_from_above = false;  ///< its priority
        std::uint16_t head_queue = 0;
        bool is_held_back = false;
    };
    JobExtras extras_of(const BookJob& job, double site) const;
    /// All but a given priority.
    JobInputs inputs_of(const BookJob& job, std::uint32_t factor, double site) const;
    /// A job's priority before the policy sets one; none where the engine computes the sum.
    std::optional<std::uint32_t> given_first() const;
    std::size_t hand_over(Pusher& pusher);
    /// The same with PushRule::head.
    std::size_t hand_over_numbers(const Moment& at, Pusher& pusher);
    void hand_over_number(FluxJobId id, PriorityEngine::Slot slot, const Moment& at, Pusher& pusher);
    void hand_over_shown(const PriorityEngine::Change& change, Pusher& pusher);
    void hand_over_first(const PriorityEngine::Change& change, Pusher& pusher);
    std::uint32_t number_of(const PriorityEngine& engine, PriorityEngine::Slot slot, const Moment& at);
    void put_marked_into_head(Instant now);
    void evaluate_marked_factors(Instant now, std::span<const double> factors);
    void mark(FluxJobId id, Place& place);
    void sort_marks();
    /// REQUIRES: sort_marks().
    bool is_marked(FluxJobId id) const { return std::binary_search(marked_.begin(), marked_.end(), id); }
    void forget_marks();
    /// PushRule::order, or head where it acts so.
    bool has_order() const {
        return settings_.push == config::PushRule::order ||
               (settings_.push == config::PushRule::head && settings_.only_raises && !is_routed_);
    }
    void expect_nothing();
    void put_admitted_into_head(Instant now);
    void push_values(const Moment& at, Pusher& job_manager);
    void push_parts(const Moment& at, bool is_full, OrderFeed& scheduler);
    std::size_t head_depth() const;
    /// Small, by name; queues behind the last share one.
    std::uint16_t head_queue_of(const std::string& queue);
    void join(std::uint32_t factor, Place& place);
    void leave(std::uint32_t factor, const Place& place);

    PriorityEngine engine_;
    PriorityEngine alone_;  ///< the same settings, without jobs
    PushOrder order_;
    HeadOrder head_{1};
    std::int64_t aged_ = 0;  ///< what ageing jobs have gained in the order that the scheduler has
    bool is_routed_ = false;
    bool is_all_news_ = false;  ///< by the next full pass every number is sent
    SchedulerView scheduler_;
    std::map<std::string, std::uint16_t> head_queues_;
    ClassIndex queue_index_;
    ClassIndex qos_index_;
    Settings settings_;
    std::unordered_map<FluxJobId, Place> places_;
    std::vector<std::vector<PriorityEngine::Slot>> by_factor_;  ///< each factor's jobs, in no order
    NumberBases bases_;                                         ///< of the job-manager's numbers
    std::vector<FluxJobId> marked_;  ///< in no order, and with some that have left; sort_marks() puts that right
    std::size_t marked_now_ = 0;     ///< the jobs among these that have not left
    std::uint64_t round_ = 1;        ///< of marks; the next one begins when a pass has used them up
    std::set<std::uint32_t> marked_factors_;
    std::vector<FluxJobId> admitted_;              ///< no longer held back; to be inserted into the head
    std::vector<PriorityEngine::Change> changes_;  // kept for its memory
};

}  // namespace weir::priority
