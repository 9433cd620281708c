// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the backlog's order. See backlog.hpp.
#include "modules/job-priority/jobs/backlog.hpp"

#include <algorithm>
#include <exception>
#include <iterator>
#include <numeric>
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

void Backlog::add(std::vector<JobEvent> events, const IsCharged& is_charged) {
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
    events_.insert(events_.end(), std::make_move_iterator(events.begin()), std::make_move_iterator(events.end()));
}

std::vector<JobEvent> Backlog::take() {
    std::vector<std::size_t> order(events_.size());  // sorted in place of the events, which are large
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return events_[a].time < events_[b].time; });
    std::vector<JobEvent> sorted;
    sorted.reserve(events_.size());
    for (const std::size_t index : order) {
        sorted.push_back(std::move(events_[index]));
    }
    events_ = {};
    return sorted;
}

}  // namespace weir::priority
