// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the payer of each job in the book. A user whom an `@*` line of the share tree admits becomes a member of the
// tree here. Must not know: how a payer is found (payers.hpp), usage, limits, priorities.
#pragma once
#include <cstdint>
#include <functional>
#include <span>

#include "modules/job-priority/charges/accounting.hpp"
#include "modules/job-priority/jobs/payers.hpp"

namespace weir::priority {

class Membership {
  public:
    /// All outlive this.
    Membership(const Payers& payers, JobBook& book, Accounting& accounting)
        : payers_(payers), book_(book), accounting_(accounting) {}

    /// Resolves the payer of the event's job, once an event: when the job becomes pending or starts, and with
    /// `is_every` at each event until its end.
    void apply(const AppliedEvent& applied, bool is_every);
    /// The same for every job, after a change of the tree or the users. A running job keeps its payer, also where the
    /// account that it names has another name now. O(jobs).
    void resolve_all(bool is_every);
    /// After a backlog: a running job has the payer whom it is charged to. The events name its account as it was called
    /// at its start. \param changed  called for each job whose payer is another one   O(jobs).
    void follow_charges(const std::function<void(FluxJobId)>& changed);
    /// Sets the payer of a job of the book. O(1) if nothing that decides it has changed since the last time that it was
    /// found for this job or one like it.
    NodeId resolve(const BookJob& job);
    /// Admits all users that the submissions of a backlog need, with one copy of the tree.
    void admit_newcomers(std::span<const JobEvent> backlog);
    /// `lines`, a tree without members, with those that it will have once it is in force: see
    /// Ledgers::with_members(), and resolve_all(), which admits who has a job. Nothing is changed. O(size + jobs).
    ShareTree with_members(const ShareTree& lines, bool is_every) const;
    /// The number of calls of resolve().
    std::uint64_t resolved() const { return resolved_; }

  private:
    /// Whether resolve_all() looks at the job.
    static bool has_payer(const BookJob& job, bool is_every) {
        return job.is_pending() || job.has_resources || (is_every && !job.is_over);
    }
    /// The number of the tree and of the answers about users, as they are now: two look-ups with the same number and
    /// request find the same payer.
    std::uint64_t basis();
    static bool keeps_payer(const BookJob& job) { return job.has_resources && is_in_tree(job.payer); }

    const Payers& payers_;
    JobBook& book_;
    Accounting& accounting_;
    std::uint64_t resolved_ = 0;
    ShareTreePtr tree_;          ///< of basis_; held, so that no other tree gets its address
    std::uint64_t version_ = 0;  ///< of the payers, likewise
    std::uint64_t basis_ = 0;
};

}  // namespace weir::priority
