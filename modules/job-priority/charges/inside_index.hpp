// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which reported jobs are directly in which. Must not know: what a job costs, whether it runs.
#pragma once
#include <cstdint>
#include <map>
#include <set>

#include "modules/job-priority/state/state_rows.hpp"

namespace weir::priority {

/// Jobs by the one whose cores they use: an instance's end looks at the jobs in it, and not at all of its child's,
/// which a guest can make many.
class InsideIndex {
  public:
    /// `inside`: the number of the job around `key` in the same child; 0: the child's own. O(log jobs).
    void add(ReportedKey key, std::uint64_t inside) { numbers_[{key.first, inside}].insert(key.second); }
    /// REQUIRES: it was added with the same `inside`.
    void remove(ReportedKey key, std::uint64_t inside) {
        const auto around = numbers_.find({key.first, inside});
        around->second.erase(key.second);
        if (around->second.empty()) {
            numbers_.erase(around);
        }
    }
    bool has(ReportedKey around) const { return numbers_.count(around) != 0; }
    /// The numbers of the jobs directly in it, ascending. Valid until the next add() or remove().
    const std::set<std::uint64_t>& of(ReportedKey around) const {
        static const std::set<std::uint64_t> none;
        const auto found = numbers_.find(around);
        return found == numbers_.end() ? none : found->second;
    }

  private:
    std::map<ReportedKey, std::set<std::uint64_t>> numbers_;
};

}  // namespace weir::priority
