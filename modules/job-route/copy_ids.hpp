// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which ids a routed job has at the parent and in its child, also for a while after its end, when users still ask
// for its output. Must not know anything else of the job.
#pragma once
#include <algorithm>
#include <cstddef>
#include <deque>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "modules/job-route/messages.hpp"

namespace weir::route {

/// All active jobs that were added, and the latest that ended. 0 where nothing is known. O(1) expected each.
class CopyIds {
  public:
    /// The child has the job under this id. A later copy of the job replaces an earlier one.
    void add(JobId id, LocalId local) {
        const auto [known, is_first] = local_of_.try_emplace(id, local);
        if (!is_first && known->second == local) {
            return;
        }
        if (!is_first) {
            erase(known->second, id);
            known->second = local;
        }
        by_local_.emplace(local, id);
    }
    /// Of the jobs that ended, the oldest is forgotten when there are more than `ended_max`.
    void ended(JobId id) {
        const auto copy = local_of_.find(id);
        if (copy == local_of_.end()) {
            return;
        }
        ended_.push_back(*copy);
        if (ended_.size() > ended_max) {
            forget(ended_.front());
            ended_.pop_front();
        }
    }
    LocalId local_of(JobId id) const {
        const auto found = local_of_.find(id);
        return found != local_of_.end() ? found->second : LocalId{};
    }
    /// Two children may issue the same id, as Flux instances do. Then the id is ambiguous.
    JobId id_of(LocalId local) const {
        const auto [first, last] = by_local_.equal_range(local);
        return first != last && std::next(first) == last ? first->second : JobId{};
    }

    static constexpr std::size_t ended_max = 10000;  ///< as many ended jobs as an instance keeps by default

  private:
    /// A recalled copy may have a successor, whose id is kept.
    void forget(const std::pair<const JobId, LocalId>& copy) {
        const auto known = local_of_.find(copy.first);
        if (known != local_of_.end() && known->second == copy.second) {
            erase(known->second, known->first);
            local_of_.erase(known);
        }
    }
    void erase(LocalId local, JobId id) {
        const auto [first, last] = by_local_.equal_range(local);
        by_local_.erase(std::find(first, last, std::pair<const LocalId, JobId>(local, id)));
    }

    std::unordered_map<JobId, LocalId> local_of_;
    std::unordered_multimap<LocalId, JobId> by_local_;
    std::deque<std::pair<const JobId, LocalId>> ended_;
};

}  // namespace weir::route
