// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the jobs that were open in a child instance when its job ended, or in an instance in it when that one ended,
// and the corrections of their ends by what is told later.
// Must not know: which instance a record is from, jobs that still run.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

#include "modules/job-priority/charges/inside_index.hpp"
#include "modules/job-priority/charges/ledgers.hpp"
#include "modules/job-priority/charges/running_job.hpp"

namespace weir::priority {

class ClosedJobs {
  public:
    /// The number of closed jobs that are kept; beyond twice this number the older half is dropped.
    static constexpr std::size_t kept = 20000;

    /// Payers by their paths in `tree`.
    void restore(const ShareTree& tree, const SavedState& saved);

    /// Keeps a job that ends with its child, or the child's own (job id 0 in the key). O(log jobs).
    void keep(Ledgers& ledgers, ReportedKey key, const ClosedJob& closed);
    /// `instance` lived in that closed child's job. Without effect if the job is not closed, or is known as another
    /// instance's.
    void name_life(Ledgers& ledgers, std::uint64_t life, const std::string& instance);
    /// Call after keep(): drops the jobs beyond the limit.
    void prune(StateLog& log);
    /// A closed job ended at `at`, or at the last report about its lender's cores if that is later, and not with the
    /// job around it. Its payer and its lender's payer get the difference. False, without effect, if `key` is not
    /// closed. Jobs in it of which no end was told end then, too. O(closed jobs in it x depth).
    bool correct_end(Ledgers& ledgers, ReportedKey key, Instant at);
    /// A job that began in a closed child's job and was not reported before: charged from `start.at` (see
    /// correct_end()) to that job's end, until correct_end() moves that end. False, without effect, if `key` is known,
    /// its child is not closed, no core is left, or too many jobs are around it. O(depth + closed jobs around it).
    bool report_past(Ledgers& ledgers, ReportedKey key, const ReportedStart& start);

    /// Whether a closed job has that key, or was inside the one that had it: another job would be taken for that one.
    bool is_taken(ReportedKey key) const { return jobs_.count(key) != 0 || inside_.has(key); }
    const std::map<ReportedKey, ClosedJob>& all() const { return jobs_; }
    /// Replaces the tree. `moved`: by node of the tree `before`, the new payer.
    void follow(const ShareTree& before, std::span<const NodeId> moved);

  private:
    /// Cores between two instants: lent (1), or given back (-1).
    struct Loan {
        Instant from, to;
        int sign;
    };
    void lend(Ledgers& ledgers, const ClosedJob& closed, std::uint64_t child, Loan loan) const;
    Instant date_report(Ledgers& ledgers, ReportedKey lender, Instant at);
    Instant latest(ReportedKey lender) const;
    Instant told_until(ReportedKey key) const;
    void move_end(Ledgers& ledgers, ReportedKey key, Instant at);
    void end_not_before(Ledgers& ledgers, ReportedKey key, Instant at);
    void end_inside(Ledgers& ledgers, ReportedKey around, Instant at);
    void lend_inside(Ledgers& ledgers, ReportedKey around, Instant from, int sign) const;
    std::int64_t cores_left(ReportedKey lender) const;
    bool is_too_deep(ReportedKey lender) const;
    void put(ReportedKey key, const ClosedJob& closed);
    void drop(ReportedKey key);

    std::map<ReportedKey, ClosedJob> jobs_;
    InsideIndex inside_;
};

}  // namespace weir::priority
