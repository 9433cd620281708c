// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which jobs' memos must still be sent to the job-manager: a memo says why a job is held back, so that `flux
// jobs` shows it. Must not know: how a memo is sent, why a job is held back.
#pragma once
#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "modules/job-priority/jobs/job_event.hpp"

namespace weir::priority {

class Memos {
  public:
    using Reason = std::function<std::string(FluxJobId)>;

    /// Whether the job is held back, or for what reason, may have changed. O(log jobs held back).
    void mark(FluxJobId id, bool is_held_back) {
        if (is_held_back || told_.count(id) != 0) {
            dirty_.insert(id);
        }
    }
    void forget(FluxJobId id) {
        told_.erase(id);
        dirty_.erase(id);
    }
    /// The job-manager lost its memos.
    void restart() { told_.clear(); }
    /// Withdraws every memo that was sent.
    void withdraw() { dirty_.insert(told_.begin(), told_.end()); }

    bool has_work() const { return !dirty_.empty(); }
    /// At most `count` memos to send; an empty text withdraws the job's. They count as sent. `reason_of` returns an
    /// empty text for a job that is not held back now.
    std::vector<std::pair<FluxJobId, std::string>> take(std::size_t count, const Reason& reason_of);

  private:
    std::unordered_set<FluxJobId> told_;
    std::set<FluxJobId> dirty_;
};

}  // namespace weir::priority
