// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which pending jobs may be offered to the scheduler, by the share tree's limits and the policy's caps; which
// submissions are refused. Must not know: how priorities are computed, resources.
// Source: libfairshare/limits/admission.hpp.
#pragma once
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "libfairshare/limits/admission.hpp"
#include "modules/job-priority/jobs/job_book.hpp"

namespace weir::priority {

class Gate {
  public:
    /// Before the first backlog: the pending jobs that were not offered to the scheduler before our start. All others
    /// may be starting and stay admitted. Without this call none is admitted.
    void set_withheld(std::set<FluxJobId> ids) { withheld_ = std::move(ids); }
    /// Removes every job; each job of the book must be counted again. Returns the admitted jobs: see keep_admitted().
    std::vector<FluxJobId> restart(const ShareTree& tree, const JobBook& book);
    /// After restart() and count(): these were admitted before. O(jobs log jobs).
    void keep_admitted(const std::vector<FluxJobId>& ids);
    /// After a backlog: the same for all jobs outside set_withheld(), once.
    void keep_admitted_except_withheld(const JobBook& book);

    /// Whether the tree has limits; else only caps count.
    bool is_limited() const { return is_limited_; }
    /// Refuses a job whose size exceeds a limit on its path; a new one also if too many are active.
    void judge(const ShareTree& tree, const BookJob& job, bool is_new);
    /// Counts the job as it is now; null: it has ended.
    void count(const ShareTree& tree, FluxJobId id, const BookJob* job);
    /// Whether the policy itself holds the job back.
    void cap(FluxJobId id, bool is_capped);
    bool is_capped(FluxJobId id) const { return capped_.count(id) != 0; }
    void uncap(FluxJobId id) { capped_.erase(id); }
    void uncap_all() { capped_.clear(); }

    /// Whether any count of the limits changed since the last admit().
    bool is_due() const { return is_due_; }
    /// Admits jobs within the limits, in order of `priority_of`. O(changed jobs).
    void admit(const ShareTree& tree, const UsageLedger& ledger, Instant now, const Admission::PriorityOf& priority_of);
    /// Calls held_back(id, whether it is) for each job where this may have changed since the last call.
    void tell(const std::function<void(FluxJobId, bool)>& held_back);

    /// Jobs refused since the last call; each must get an exception with this sentence.
    std::vector<std::pair<FluxJobId, std::string>> take_refusals() { return std::exchange(refusals_, {}); }
    /// The limit of the tree that holds a job back, in words; empty if none does.
    std::string limit_of(const ShareTree& tree, FluxJobId id) const;
    const Admission& admission() const { return admission_; }

  private:
    Admission admission_;  ///< empty where the tree has no limits
    bool is_limited_ = false;
    bool is_due_ = false;
    std::set<FluxJobId> capped_;
    std::vector<FluxJobId> changed_;  ///< since tell()
    std::optional<std::set<FluxJobId>> withheld_;
    std::vector<std::pair<FluxJobId, std::string>> refusals_;
};

}  // namespace weir::priority
