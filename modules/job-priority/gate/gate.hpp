// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which pending jobs may be offered to the scheduler, as far as the share tree's limits and the policy's caps go;
// which submissions are refused. Must not know: why a priority is what it is, resources.
// Source: libfairshare/limits/admission.hpp; doc/adr/0127.
#pragma once
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "libfairshare/limits/admission.hpp"
#include "modules/job-priority/jobs/job_book.hpp"
#include "modules/job-priority/sends/pusher.hpp"

namespace weir::priority {

class Gate {
  public:
    /// Before the first backlog: which pending jobs the scheduler was not offered while we were away. All others may be
    /// starting and keep their places. Without this call nobody has one.
    void set_withheld(std::set<FluxJobId> ids) { withheld_ = std::move(ids); }
    /// Forgets every job; each of the book is to be counted again. Returns who keeps a place: see keep_places().
    std::vector<FluxJobId> restart(const ShareTree& tree, const JobBook& book);
    /// After restart() and count(): these were admitted before. O(jobs log jobs).
    void keep_places(const std::vector<FluxJobId>& ids);
    /// After a backlog: the same by what set_withheld() said, once.
    void keep_places_of_withheld(const JobBook& book);

    /// Whether the tree has limits; else only caps count.
    bool is_limited() const { return is_limited_; }
    /// Refuses a job whose size no limit on its path will ever admit; a new one also where too many are active.
    void judge(const ShareTree& tree, const BookJob& job, bool is_new);
    /// Counts the job as it is now; null: it is gone.
    void count(const ShareTree& tree, FluxJobId id, const BookJob* job);
    /// Whether the policy itself holds the job back.
    void cap(FluxJobId id, bool is_capped);
    bool is_capped(FluxJobId id) const { return capped_.count(id) != 0; }
    void uncap(FluxJobId id) { capped_.erase(id); }
    void uncap_all() { capped_.clear(); }

    /// Whether something changed what limits count since the last admit().
    bool is_due() const { return is_due_; }
    /// Admits, in order of `priority_of`, whom the limits have room for. O(changed jobs).
    void admit(const ShareTree& tree, const UsageLedger& ledger, Instant now, const Admission::PriorityOf& priority_of);
    /// Tells the pusher who is held back, of those where that may have changed since the last call.
    void tell(Pusher& pusher);

    /// Jobs refused since the last call: each is to get an exception with this sentence.
    std::vector<std::pair<FluxJobId, std::string>> take_refusals() { return std::exchange(refusals_, {}); }
    /// The limit of the tree that holds a job back, in words; empty when none does.
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
