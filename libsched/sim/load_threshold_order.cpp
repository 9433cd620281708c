// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see load_threshold_order.hpp.
#include "libsched/sim/load_threshold_order.hpp"

#include <algorithm>
#include <cmath>

namespace weir {

LoadThresholdOrder::LoadThresholdOrder(const PolicySettings& settings, std::int64_t machine_cores)
    : policy_(settings.load_threshold),
      queues_(settings.queues),
      interval_(settings.update_interval),
      cores_(static_cast<double>(std::max<std::int64_t>(machine_cores, 1))) {}

double LoadThresholdOrder::score() const {
    const double load = busy_ / cores_;
    return resource_score({load, policy_.cpu_speed, load, policy_.ram_size}, policy_.weights).score;
}

double LoadThresholdOrder::gained(Instant now) const {
    return has_begun_ ? gained_ + policy_.rule.gained(now - now_, score()) : gained_;
}

void LoadThresholdOrder::advance(Instant now) {
    gained_ = gained(now);
    has_begun_ = true;
    now_ = now;
}

void LoadThresholdOrder::submitted(const SimJob& job, JobId id, Instant now) {
    advance(now);
    if (id.value >= entries_.size()) {
        entries_.resize(id.value + 1);
    }
    const auto queue = queues_.find(std::to_string(job.queue));
    entries_[id.value] = {queue == queues_.end() ? 0. : queue->second, gained_, 0, true};
}

void LoadThresholdOrder::started(const SimJob& job, JobId id, Instant now) {
    advance(now);
    entries_[id.value].waits = false;
    busy_ += job.cores;
}

void LoadThresholdOrder::ended(const SimJob& job, JobId, Instant now) {
    advance(now);
    busy_ -= job.cores;
}

LoadThreshold::Standing LoadThresholdOrder::standing(JobId id) const {
    const Entry& entry = entries_[id.value];
    return policy_.rule.standing(entry.base, gained_told_ - entry.gained);
}

void LoadThresholdOrder::prioritize(Instant now, std::vector<std::pair<JobId, std::uint32_t>>& changed) {
    told_ = now;
    gained_told_ = gained(now);
    for (std::size_t i = 0; i < entries_.size(); i++) {
        if (entries_[i].waits) {
            const double scaled = standing(JobId{i}).raw * load_threshold_scale;
            const auto value =
                static_cast<std::uint32_t>(std::llround(std::clamp(scaled, 1.0, static_cast<double>(priority_max))));
            if (value != entries_[i].told) {
                entries_[i].told = value;
                changed.emplace_back(JobId{i}, value);
            }
        }
    }
}

}  // namespace weir
