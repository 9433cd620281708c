// SPDX-License-Identifier: LGPL-3.0-only
// Owns: an order (libsched/order) in the module: its inputs from the book's jobs and their users, who holds cores, what
// the nodes of the tree used. Under multifactor the engine of the queue is the order, and this one has no jobs.
// Must not know: which policy it is, the engine, pushes, events.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libsched/order/orders.hpp"
#include "modules/job-priority/jobs/job_book.hpp"
#include "modules/job-priority/ranking/measured.hpp"
#include "modules/job-priority/settings.hpp"

namespace weir::priority {

/// The credentials of a job.
struct JobOwner {
    NodeId payer = unassociated;
    std::string user;
    std::string group;    ///< the user's first
    std::string account;  ///< path of the account that pays, else the job's own text
};

class PolicyOrder {
  public:
    using Values = order::Values;  ///< by slot

    PolicyOrder(const Settings& settings, const MachineSize& machine);
    /// Changes the settings. Under the same policy jobs keep what they gained, as far as it does not depend on the
    /// settings; the caller puts all jobs again. False, without effect: the settings need another order, which must get
    /// every job.
    bool configure(const Settings& settings, Instant at);

    /// Whether the policy is multifactor, which the engine computes: then this order is not used.
    bool is_sum() const { return std::holds_alternative<order::Multifactor>(order_); }

    /// Inserts or updates a pending job. `slot`: a small number, which may be used again once the job is removed.
    /// `site`: the site's value. Held and expedited jobs have no place in the order.
    void put(JobId slot, const BookJob& job, const JobOwner& owner, double site, Instant at);
    void remove(JobId slot, Instant at);
    /// A pending job gets its resources: remove(), and its effect on the jobs that it passed.
    void start(JobId slot, Instant at);
    /// A job of that user (empty: of no user) holds so many cores, or has released them. Without effect if that is
    /// known. Multifactor goes by no cores in use, and needs neither.
    void hold(FluxJobId id, std::int64_t cores, const std::string& user, Instant at);
    void release(FluxJobId id, Instant at);
    void set_machine(const MachineSize& machine, Instant at);

    /// Takes the usage of the nodes of the tree.
    void measure(const ShareTree& tree, const Measured& measured);
    /// Whether each event needs the usage up to then.
    bool wants_fresh() const;
    /// The jobs whose values changed; 0: a cap was reached, and the job waits. REQUIRES: measure() since the tree
    /// changed. O(jobs), for LSF O(nodes + jobs x depth x log siblings).
    void prioritize(const ShareTree& tree, const Measured& measured, Instant now, Values& changed);
    /// The same after single events: for LSF all jobs, else those put since the last call.
    void prioritize_fresh(const ShareTree& tree, const Measured& measured, Instant now, Values& changed);

    /// The terms of a job's place. REQUIRES, here and below: the order has the jobs.
    OrderTerms explain(JobId slot, const ShareTree& tree, const Measured& measured, Instant now) const;
    /// Why `other` is ahead of `own`.
    std::string lead(JobId own, JobId other, const ShareTree& tree, const Measured& measured, Instant now) const;
    /// How the job's number changes by time alone, without submission and id; nothing where time changes nothing.
    std::optional<Course> course(JobId slot, const ShareTree& tree, const Measured& measured) const;
    /// The setting whose cap keeps the job waiting: "accounts.bio"; empty: none.
    std::string capped_by(JobId slot) const;
    bool has(JobId slot) const { return slot.value < is_in_.size() && is_in_[slot.value]; }

  private:
    order::WaitingJob waiting(const BookJob& job, const JobOwner& owner, double site);
    order::Credential credential(std::size_t kind, const std::string& name);
    order::Use use(const ShareTree& tree, const Measured& measured) const;

    order::AnyOrder order_;
    std::vector<bool> is_in_;                     ///< by slot
    std::map<FluxJobId, order::Holder> holders_;  ///< what each job holds
    MoabPriorities::Usage usage_;                 ///< of credentials
};

/// One sentence for each setting of the policy that has no effect with this tree.
std::vector<std::string> policy_order_warnings(const Settings& settings, const ShareTree& tree);

}  // namespace weir::priority
