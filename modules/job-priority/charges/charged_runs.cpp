// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which charged runs are dropped. See charged_runs.hpp.
#include "modules/job-priority/charges/charged_runs.hpp"

#include <algorithm>
#include <vector>

namespace weir::priority {

void ChargedRuns::restore(const SavedState& saved) {
    ended_.clear();
    for (const auto& [run, ended] : saved.charged) {
        put(run, ended);
    }
}

void ChargedRuns::put(const JobRun& run, Instant ended) {
    ended_[run] = ended;
    last_alloc_ = std::max(last_alloc_, run.alloc);
    has_any_time_ = has_any_time_ || run.is_of_any_time();
}

void ChargedRuns::add(StateLog& log, const JobRun& run, Instant ended) {
    put(run, ended);
    log.put_charged(run, ended);
    if (ended_.size() > 2 * kept) {
        prune(log);
    }
}

void ChargedRuns::prune(StateLog& log) {
    std::vector<Instant> ends;
    ends.reserve(ended_.size());
    for (const auto& [run, ended] : ended_) {
        ends.push_back(ended);
    }
    const auto middle = ends.begin() + static_cast<std::ptrdiff_t>(ended_.size() - kept);
    std::nth_element(ends.begin(), middle, ends.end());
    const Instant floor = *middle;
    for (auto entry = ended_.begin(); entry != ended_.end();) {
        if (entry->second < floor) {
            log.put_charged(entry->first, std::nullopt);
            log.set_charged_floor(entry->second);
            entry = ended_.erase(entry);
        } else {
            ++entry;
        }
    }
}

}  // namespace weir::priority
