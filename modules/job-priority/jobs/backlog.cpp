// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the backlog's order. See backlog.hpp.
#include "modules/job-priority/jobs/backlog.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace weir::priority {

std::vector<std::string> apply_each(std::span<const JobEvent> events,
                                    const std::function<void(const JobEvent&)>& apply) {
    std::vector<std::string> faults;
    for (const JobEvent& event : events) {
        try {
            apply(event);
        } catch (const std::exception& fault) {
            faults.push_back("job " + std::to_string(event.id) + ": an event was not applied: " + fault.what());
        }
    }
    return faults;
}

void Backlog::clear() {
    events_.clear();
    runs_.clear();
}

void Backlog::add(const std::vector<JobEvent>& events, const IsCharged& is_charged) {
    if (events.empty()) {
        return;
    }
    JobRun& run = runs_[events.front().id];
    run.id = events.front().id;
    for (const JobEvent& event : events) {
        if (std::holds_alternative<SubmitEvent>(event.what)) {
            run.submit = event.stamp();
        } else if (std::holds_alternative<AllocEvent>(event.what)) {
            run.alloc = event.stamp();
        } else if (std::holds_alternative<FreeEvent>(event.what) && is_charged(run, event.time)) {
            return;
        }
    }
    events_.insert(events_.end(), events.begin(), events.end());
}

std::vector<JobEvent> Backlog::take() {
    std::stable_sort(events_.begin(), events_.end(),
                     [](const JobEvent& a, const JobEvent& b) { return a.time < b.time; });
    return std::exchange(events_, {});
}

}  // namespace weir::priority
