// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the pending jobs' priorities: fair-share factors, the priority engine, the site's policy, and the order that is
// pushed. Must not know: events, limits, the plugin's protocol, what is kept in the state.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "modules/job-priority/charges/accounting.hpp"
#include "modules/job-priority/jobs/user_names.hpp"
#include "modules/job-priority/ranking/fair_shares.hpp"
#include "modules/job-priority/ranking/pending_queue.hpp"
#include "modules/job-priority/ranking/policy_order.hpp"

namespace weir::priority {

/// Which jobs a pass evaluates.
enum class Pass {
    full,    ///< every pending job, with fresh factors
    marked,  ///< those that events touched since the last pass
};

class Ranking {
  public:
    /// \param settings  those in force   \param users  a cache of look-ups   Both outlive this.
    Ranking(const Settings& settings, UserNames& users, bool is_child);

    // Inputs of all priorities. After each of these every pending job must be put again.
    /// The settings changed. True: the policy changed. It has capped no job yet, and every job that holds cores must be
    /// given to hold() again.
    bool configure(const ShareTree& tree, Instant now);
    /// The nodes of the tree changed.
    void set_tree(const ShareTree& tree);
    /// Sets the instance's size. False, without effect, if it is the same.
    bool set_machine(const ShareTree& tree, const MachineSize& machine);
    void take_parent_factors(const ShareTree& tree, const std::vector<FactorRow>& rows, bool is_complete);
    /// A new backlog: every job is forgotten.
    void clear();

    /// The index in factors() of the job's factor: its payer's, or the parent's for its user and account. O(1) if the
    /// job's record has it, by factor_basis(), else O(length of the names) expected.
    std::uint32_t factor_index(const BookJob& job) const;
    /// The number of the answers about users and of the names that the parent sent, as they are now: two look-ups
    /// among the parent's factors with the same number and request find the same. More than 0.
    std::uint64_t factor_basis() const { return users_.version() + shares_.from_parent().version(); }

    // Events.
    /// The following events are dated `at` for the policy.
    void set_time(Instant at) { time_ = at; }
    /// Inserts or updates a pending job and marks it. `site`: the site's value; `from_above`: the parent instance's
    /// priority.
    void put(const ShareTree& tree, const BookJob& job, double site, std::optional<std::uint32_t> from_above,
             PutCause cause);
    /// The job is no longer pending: it got resources (`is_start`), or it was removed.
    void leave(FluxJobId id, bool is_start);
    /// A job of that user holds so many cores, or has released them.
    void hold(FluxJobId id, std::int64_t cores, const std::string& user) { order_.hold(id, cores, user, time_); }
    void release(FluxJobId id) { order_.release(id, time_); }
    /// Marks the jobs that share this job's factor: its association's usage changed.
    void mark_like(const BookJob& job) { mark_used(factor_index(job)); }
    void mark(const std::vector<NodeId>& payers) {
        for (const NodeId payer : payers) {
            mark_used(payer.value);
        }
    }
    bool has_marked() const { return queue_.has_marked(); }
    /// When the pending jobs are due to be compared by usage that no evaluation of the tree has counted, because it
    /// came too soon after the last one. Nothing: there is none, or no priority depends on it.
    std::optional<Instant> evaluation_due() const {
        const bool is_needless = queue_.size() == 0 || (shares_.are_parents() && order_.is_sum());
        return uncounted_.empty() || is_needless ? std::nullopt : shares_.stale_at();
    }

    // The pass.
    /// Evaluates the jobs of the pass; changed priorities go to the pusher. Returns how many changed. O(jobs
    /// evaluated), plus an evaluation of the tree if it is due.
    std::size_t evaluate(Pass pass, const Accounting& accounting, Instant now, Pusher& pusher);
    /// Whether a limit or a cap keeps a pending job from starting; such jobs have no place in the head.
    void hold_back(FluxJobId id, bool is_held_back) { queue_.hold_back(id, is_held_back); }
    /// See PendingQueue::expect().
    void expect(FluxJobId id, std::uint32_t number) { queue_.expect(id, number); }
    bool set_routed(bool is_routed) { return queue_.set_routed(is_routed); }
    void set_scheduler(const SchedulerView& scheduler) { queue_.set_scheduler(scheduler); }
    /// With PushRule::head: pushes what the order needs, after the pass and the limits; with any other rule the
    /// scheduler gets nothing. O(associations with pending jobs + depth).
    void push_head(Instant now, Pass pass, Pusher& job_manager, OrderFeed& scheduler) {
        queue_.push_head({now, factors()}, pass == Pass::full, job_manager, scheduler);
        if (!queue_.has_head()) {
            scheduler.withdraw_all();
        }
    }
    /// The number that a new job like this has now.
    std::uint32_t first_number(const JobInputs& like) { return queue_.first_number(like, {time_, factors()}); }
    /// For the jobs whose value the policy changed in the last evaluate(): whether it holds them back.
    std::vector<std::pair<FluxJobId, bool>> caps() const;
    /// A greater value is earlier; 0 for a job that is not pending.
    std::uint64_t fine_priority(FluxJobId id, Instant now) const;

    // For views.
    /// Measures the tree as it is now: usage, and the further inputs of the algorithm in force. O(nodes), and O(pending
    /// jobs) for demand-capped; in `into`'s memory.
    void measure(const Accounting& accounting, Instant now, Measured& into) const;
    const FairShares& shares() const { return shares_; }
    std::span<const double> factors() const { return shares_.factors(); }
    const PendingQueue& queue() const { return queue_; }
    const PolicyOrder& order() const { return order_; }
    bool is_machine_known() const { return is_machine_known_; }
    const MachineSize& machine() const { return machine_; }

  private:
    void mark_used(std::uint32_t factor) {
        uncounted_.insert(factor);
        queue_.mark_factor(factor);
    }
    void evaluate_tree(const Accounting& accounting, Instant now);
    JobOwner owner_of(const ShareTree& tree, const BookJob& job) const;
    void configure_queue(const ShareTree& tree);
    bool configure_order(Instant now);
    void measure_demand(const UsageLedger& ledger, Measured& into) const;
    void give_values(Pass pass, const ShareTree& tree, Instant now);

    const Settings& settings_;
    UserNames& users_;
    FairShares shares_;
    PendingQueue queue_;
    PolicyOrder order_;
    PolicyOrder::Values given_;  // kept for its memory
    std::unordered_set<std::uint32_t>
        uncounted_;   ///< factors whose usage changed since the last evaluation of the tree
    Instant time_{};  ///< date of the present events of order_; before the position in a backlog
    MachineSize machine_;
    bool is_machine_known_ = false;
};

}  // namespace weir::priority
