// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the payer of each job in the book. A user whom an `@*` line of the share tree admits becomes a member of the
// tree here. Must not know: how a payer is found (payers.hpp), usage, limits, priorities.
#pragma once
#include <cstdint>
#include <span>

#include "modules/job-priority/charges/accounting.hpp"
#include "modules/job-priority/jobs/payers.hpp"

namespace weir::priority {

class Membership {
  public:
    /// All outlive this.
    Membership(const Payers& payers, JobBook& book, Accounting& accounting)
        : payers_(payers), book_(book), accounting_(accounting) {}

    /// Resolves the payer of the event's job, once an event: where the job begins to wait or to run, and with
    /// `is_every` at each event until it is over.
    void apply(const AppliedEvent& applied, bool is_every);
    /// The same for every job: the tree or the users are others. O(jobs).
    void resolve_all(bool is_every);
    /// The payer of a job of the book from here on.
    NodeId resolve(const BookJob& job);
    /// Admits all whom the submissions of a backlog will need, in one copy of the tree.
    void admit_newcomers(std::span<const JobEvent> backlog);
    /// The number of calls of resolve().
    std::uint64_t resolved() const { return resolved_; }

  private:
    const Payers& payers_;
    JobBook& book_;
    Accounting& accounting_;
    std::uint64_t resolved_ = 0;
};

}  // namespace weir::priority
