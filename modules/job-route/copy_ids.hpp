// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which ids a routed job has at the parent and in its child, also for a while after its end, when users still ask
// for its output. Must not know anything else of the job.
#pragma once
#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "modules/job-route/ended_copies.hpp"
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
    void ended(JobId id) {
        const auto copy = local_of_.find(id);
        if (copy != local_of_.end()) {
            ended_.add(id, copy->second);
            erase(copy->second, id);
            local_of_.erase(copy);
        }
    }
    LocalId local_of(JobId id) const {
        const auto found = local_of_.find(id);
        return found != local_of_.end() ? found->second : ended_.local_of(id);
    }
    /// Two children may issue the same id, as Flux instances do. Then the id is ambiguous.
    JobId id_of(LocalId local) const {
        std::vector<JobId> ids = ended_.ids_of(local);
        std::erase_if(ids, [&](JobId id) { return local_of(id) != local; });  // a later copy has another id
        const auto [first, last] = by_local_.equal_range(local);
        std::for_each(first, last, [&ids](const auto& copy) { ids.push_back(copy.second); });
        return ids.size() == 1 ? ids.front() : JobId{};
    }

  private:
    void erase(LocalId local, JobId id) {
        const auto [first, last] = by_local_.equal_range(local);
        by_local_.erase(std::find(first, last, std::pair<const LocalId, JobId>(local, id)));
    }

    // of active jobs
    std::unordered_map<JobId, LocalId> local_of_;
    std::unordered_multimap<LocalId, JobId> by_local_;
    EndedCopies ended_;
};

}  // namespace weir::route
