// SPDX-License-Identifier: LGPL-3.0-only
// Owns: an order (libsched/order) in the module: what a job of the book and its owner are to it, who holds cores, what
// the nodes of the tree used. Under multifactor the engine of the queue is the order, and this one is told nothing.
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

/// Whose a job is.
struct JobOwner {
    NodeId payer = unassociated;
    std::string user;
    std::string group;    ///< the user's first
    std::string account;  ///< path of the account that pays, else what the job names
};

class PolicyOrder {
  public:
    using Values = order::Values;  ///< by slot

    PolicyOrder(const Settings& settings, const MachineSize& machine);
    /// Other settings. Under the same policy jobs keep what they gained where that does not come from the settings; the
    /// caller puts all jobs anew. False, and nothing: they make another order, which has to be told everything.
    bool configure(const Settings& settings, Instant at);

    /// Multifactor is the engine's own sum: nothing here counts.
    bool is_sum() const { return std::holds_alternative<order::Multifactor>(order_); }

    /// A pending job, or other facts of it. `slot`: small, may be another's once the job is removed. `site` what the
    /// site set for it. Held and expedited jobs have no place in the order.
    void put(JobId slot, const BookJob& job, const JobOwner& owner, double site, Instant at);
    void remove(JobId slot, Instant at);
    /// A pending job gets its resources: remove(), and what it means to those it passed.
    void start(JobId slot, Instant at);
    /// A job of that user (empty: nobody's) holds so many cores, or does no more; nothing, when it does (not) already.
    void hold(FluxJobId id, std::int64_t cores, const std::string& user, Instant at);
    void release(FluxJobId id, Instant at);
    void set_machine(const MachineSize& machine, Instant at);

    /// Takes what the nodes of the tree have used.
    void measure(const ShareTree& tree, const Measured& measured);
    /// Whether each event needs what was used until then.
    bool wants_fresh() const;
    /// The jobs whose values changed; 0: it is to wait, a cap was reached. REQUIRES: measure() since the tree changed.
    /// O(jobs), for LSF O(nodes + jobs x depth x log siblings).
    void prioritize(const ShareTree& tree, const Measured& measured, Instant now, Values& changed);
    /// The same after single events: for LSF the whole, else the jobs put since the last time.
    void prioritize_fresh(const ShareTree& tree, const Measured& measured, Instant now, Values& changed);

    /// What a job's place comes from; the jobs are in the order.
    OrderTerms explain(JobId slot, const ShareTree& tree, const Measured& measured, Instant now) const;
    /// Why `other` stands above `own`.
    std::string lead(JobId own, JobId other, const ShareTree& tree, const Measured& measured, Instant now) const;
    /// How the job's number goes on by time alone, without submission and id; nothing where time changes nothing.
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

/// What of the policy's settings counts nothing with this tree; sentences.
std::vector<std::string> policy_order_warnings(const Settings& settings, const ShareTree& tree);

}  // namespace weir::priority
