// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the jobs that have had no value from an order since they were inserted. Must not know priorities.
#pragma once
#include <set>
#include <utility>

#include "libsched/job.hpp"

namespace weir::order {

class FreshJobs {
  public:
    void add(JobId id) { ids_.insert(id); }
    void forget(JobId id) { ids_.erase(id); }
    void clear() { ids_.clear(); }
    /// Removes and returns all of them, by id.
    std::set<JobId> take() { return std::exchange(ids_, {}); }

  private:
    std::set<JobId> ids_;
};

}  // namespace weir::order
