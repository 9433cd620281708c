// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which jobs' memos must still be sent to the job-manager: a memo says why a job waits, or where it is, so that
// `flux jobs` shows it. Must not know: how a memo is sent, what it says.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace weir::flux {

class Memos {
  public:
    using Reason = std::function<std::string(std::uint64_t id)>;

    /// Whether the job has a memo, or what it says, may have changed. O(log jobs with a memo).
    void mark(std::uint64_t id, bool has_memo) {
        if (has_memo || told_.count(id) != 0) {
            dirty_.insert(id);
        }
    }
    void forget(std::uint64_t id) {
        told_.erase(id);
        dirty_.erase(id);
    }
    /// The job-manager lost its memos.
    void restart() { told_.clear(); }
    /// Every memo that was sent is to be sent again, or withdrawn if there is no reason.
    void renew() { dirty_.insert(told_.begin(), told_.end()); }

    bool has_work() const { return !dirty_.empty(); }
    /// At most `count` memos to send; an empty text withdraws the job's. They count as sent. `reason_of` returns an
    /// empty text for a job that has no memo now.
    std::vector<std::pair<std::uint64_t, std::string>> take(std::size_t count, const Reason& reason_of);

  private:
    std::unordered_set<std::uint64_t> told_;
    std::set<std::uint64_t> dirty_;
};

}  // namespace weir::flux
