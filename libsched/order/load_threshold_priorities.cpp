// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see load_threshold_priorities.hpp.
#include "libsched/order/load_threshold_priorities.hpp"

#include <algorithm>
#include <cmath>

namespace weir {

LoadThresholdPriorities::LoadThresholdPriorities(const PolicySettings& settings, std::int64_t machine_cores)
    : policy_(settings.load_threshold),
      queues_(settings.queues),
      cores_(static_cast<double>(std::max<std::int64_t>(machine_cores, 1))) {}

void LoadThresholdPriorities::configure(const PolicySettings& settings, Instant at) {
    advance(at);
    policy_ = settings.load_threshold;
    queues_ = settings.queues;
}

double LoadThresholdPriorities::score() const {
    const double load = busy_ / cores_;
    return resource_score({load, policy_.cpu_speed, load, policy_.ram_size}, policy_.weights).score;
}

double LoadThresholdPriorities::gained(Instant now) const {
    return has_begun_ ? gained_ + policy_.rule.gained(now - now_, score()) : gained_;
}

void LoadThresholdPriorities::advance(Instant now) {
    gained_ = gained(now);
    now_ = has_begun_ ? std::max(now_, now) : now;
    has_begun_ = true;
}

void LoadThresholdPriorities::put(JobId id, const std::string& queue, Instant at) {
    advance(at);
    if (id.value >= entries_.size()) {
        entries_.resize(id.value + 1);
    }
    Entry& entry = entries_[id.value];
    const auto priority = queues_.find(queue);
    if (!entry.waits) {
        entry = {0, gained_, entry.is_paused ? entry.kept : 0., entry.is_paused ? entry.appended : 0, true, false};
    }
    entry.base = priority == queues_.end() ? 0. : priority->second;
}

void LoadThresholdPriorities::pause(JobId id, Instant at) {
    advance(at);
    if (id.value < entries_.size() && entries_[id.value].waits) {
        Entry& entry = entries_[id.value];
        entry.kept += gained_ - entry.spent;
        entry.waits = false;
        entry.is_paused = true;
    }
}

void LoadThresholdPriorities::remove(JobId id, Instant at) {
    advance(at);
    if (id.value < entries_.size()) {
        entries_[id.value] = {};
    }
}

void LoadThresholdPriorities::use(std::int64_t cores, Instant at) {
    advance(at);
    busy_ += static_cast<double>(cores);
}

void LoadThresholdPriorities::set_machine(std::int64_t cores, Instant at) {
    advance(at);
    cores_ = static_cast<double>(std::max<std::int64_t>(cores, 1));
}

double LoadThresholdPriorities::number_of(const LoadThreshold::Standing& standing) {
    return std::clamp(standing.raw * load_threshold_scale, 1.0, static_cast<double>(priority_max));
}

std::uint32_t LoadThresholdPriorities::value_of(const LoadThreshold::Standing& standing) {
    return static_cast<std::uint32_t>(std::llround(number_of(standing)));
}

Course LoadThresholdPriorities::course(JobId id) const {
    Course course;
    course.number = [this, id](Instant at) { return number_of(standing(id, at)); };
    course.slope = [this, id](Instant from, Instant to) {
        const double rise = policy_.rule.gained(std::chrono::seconds(1), score()) * load_threshold_scale;
        const double least = standing(id, from).raw * load_threshold_scale;
        const double most = standing(id, to).raw * load_threshold_scale;
        const bool is_still = most <= 1.0 || least >= static_cast<double>(priority_max);
        const bool is_free = least >= 1.0 && most <= static_cast<double>(priority_max);
        return is_still ? Slope{} : Slope{is_free ? rise : 0., rise};
    };
    return course;
}

void LoadThresholdPriorities::prioritize(Instant now, std::vector<std::pair<JobId, std::uint32_t>>& changed) {
    const double gained = this->gained(now);
    for (std::size_t i = 0; i < entries_.size(); i++) {
        if (!entries_[i].waits) {
            continue;
        }
        const std::uint32_t value = value_of(standing(entries_[i], gained));
        if (value != entries_[i].appended) {
            entries_[i].appended = value;
            changed.emplace_back(JobId{i}, value);
        }
    }
}

OrderTerms LoadThresholdPriorities::explain(JobId id, Instant now) const {
    const Entry& entry = entries_[id.value];
    const LoadThreshold::Standing place = standing(id, now);
    const double gain = place.raw - entry.base;
    const double k = policy_.rule.per_minute;
    OrderTerms out;
    out.terms.push_back({"queue", entry.base, "priority", 1, entry.base});
    out.terms.push_back({"load", k > 0 ? gain / k : 0., "minutes x E", k, gain});
    out.sum = place.raw;
    out.words.push_back("P is " + order_number(place.priority) + " of at most " + order_number(policy_.rule.threshold) +
                        (place.reserves ? ", so the job may have a reservation. Such jobs are ordered by " +
                                              order_number(place.raw) + ", the value without the threshold."
                                        : "; from there on a job may have a reservation."));
    out.words.push_back("E is " + order_number(score()) + ": " + order_number(busy_) + " of " + order_number(cores_) +
                        " cores are in use. Each minute of waiting gains " +
                        order_number(policy_.rule.gained(std::chrono::minutes(1), score())) + ".");
    return out;
}

}  // namespace weir
