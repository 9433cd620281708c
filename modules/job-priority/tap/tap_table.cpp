// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the table's rules. See tap_table.hpp.
#include "modules/job-priority/tap/tap_table.hpp"

#include <algorithm>

namespace weir::priority {
namespace {

constexpr int urgency_held = 0;
constexpr int urgency_expedited = 31;

/// The job-manager overrides any value of such a job.
bool is_overridden(int urgency) {
    return urgency == urgency_held || urgency == urgency_expedited;
}

}  // namespace

std::uint32_t clamp_priority(std::int64_t value) {
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(value, priority_lowest, priority_highest));
}

std::optional<std::uint32_t> TapTable::on_enter(const TapQuestion& job, Instant now) {
    if (const auto known = values_.find(job.id); known != values_.end()) {
        waiting_.erase(job.id);
        return known->second;
    }
    if (is_overridden(job.urgency)) {
        waiting_.erase(job.id);
        return priority_lowest;
    }
    if (mode_ == Mode::fallback) {
        return fallback(job.urgency);
    }
    if (const auto first = first_values_.find(job.kind); mode_ == Mode::synced && first != first_values_.end()) {
        gave_first_++;
        return set(job.id, first->second);
    }
    const auto [entry, is_new] = waiting_.try_emplace(job.id, Waiting{now, job.urgency});
    entry->second.urgency = job.urgency;
    return std::nullopt;
}

std::optional<std::int64_t> TapTable::on_get(const TapQuestion& job, Instant now) {
    const bool is_forsaken = mode_ == Mode::fallback && job.priority == 0 && !is_overridden(job.urgency);
    if (job.is_in_sched && values_.count(job.id) == 0 && !is_forsaken) {
        return job.priority;
    }
    return on_enter(job, now);
}

bool TapTable::on_urgency(std::uint64_t id, int urgency) {
    const auto job = waiting_.find(id);
    if (job == waiting_.end()) {
        return false;
    }
    job->second.urgency = urgency;
    if (!is_overridden(urgency)) {
        return false;
    }
    waiting_.erase(job);
    return true;
}

std::uint32_t TapTable::set(std::uint64_t id, std::int64_t value) {
    const std::uint32_t stored = value == 0 ? 0 : clamp_priority(value);
    const auto [entry, is_new] = values_.try_emplace(id, stored);
    if (lowest_ && !is_new && entry->second == *lowest_ && stored != *lowest_) {
        lowest_.reset();
    }
    entry->second = stored;
    if (lowest_ && stored > 0) {
        lowest_ = std::min(*lowest_, stored);
    }
    waiting_.erase(id);
    return stored;
}

std::optional<std::uint32_t> TapTable::set_for_all(std::uint64_t id, std::int64_t value) {
    const bool was_waiting = is_waiting(id);
    const auto known = values_.find(id);
    const bool was_known = known != values_.end();
    const std::uint32_t before = was_known ? known->second : 0;
    const std::uint32_t stored = set(id, value);
    is_ahead_ = is_ahead_ || (!was_waiting && !(was_known && before == stored));
    return was_waiting ? std::optional(stored) : std::nullopt;
}

void TapTable::set_first_values(const std::vector<std::pair<std::string, std::uint32_t>>& rows, bool is_all) {
    if (is_all) {
        first_values_.clear();
    }
    for (const auto& [kind, value] : rows) {
        first_values_.insert_or_assign(kind, clamp_priority(value));
    }
}

std::vector<std::uint64_t> TapTable::withheld() const {
    std::vector<std::uint64_t> ids;
    for (const auto& [id, value] : values_) {
        if (value == 0) {
            ids.push_back(id);
        }
    }
    for (const auto& [id, job] : waiting_) {
        ids.push_back(id);
    }
    std::sort(ids.begin(), ids.end());
    return ids;
}

void TapTable::forget(std::uint64_t id) {
    waiting_.erase(id);
    const auto known = values_.find(id);
    if (known == values_.end()) {
        return;
    }
    if (lowest_ && known->second == *lowest_) {
        lowest_.reset();
    }
    values_.erase(known);
}

std::vector<std::pair<std::uint64_t, std::uint32_t>> TapTable::release_overdue(Instant now) {
    const auto is_overdue = [&](const Waiting& job) { return now >= job.since + unavail_timeout_; };
    if (detached_at_ && now >= *detached_at_ + unavail_timeout_) {
        mode_ = Mode::fallback;
    }
    for (const auto& [id, job] : waiting_) {
        if (is_overdue(job) && (!synced_at_ || *synced_at_ < job.since)) {
            mode_ = Mode::fallback;
        }
    }
    std::vector<std::pair<std::uint64_t, std::uint32_t>> released;
    for (auto entry = waiting_.begin(); entry != waiting_.end();) {
        const auto& [id, job] = *entry;
        if (mode_ == Mode::fallback || is_overdue(job)) {
            released.emplace_back(id, fallback(job.urgency));
            entry = waiting_.erase(entry);
        } else {
            ++entry;
        }
    }
    return released;
}

std::size_t TapTable::release_withheld(Instant now) {
    if (!detached_at_ || now < *detached_at_ + unavail_timeout_) {
        return 0;
    }
    detached_at_.reset();
    return std::erase_if(values_, [](const auto& job) { return job.second == 0; });
}

std::optional<Instant> TapTable::next_deadline() const {
    std::optional<Instant> first = detached_at_;
    if (first) {
        *first += unavail_timeout_;
    }
    for (const auto& [id, job] : waiting_) {
        if (!first || job.since + unavail_timeout_ < *first) {
            first = job.since + unavail_timeout_;
        }
    }
    return first;
}

std::uint32_t TapTable::fallback(int urgency) const {
    if (!lowest_) {
        for (const auto& [id, value] : values_) {
            if (value > 0) {  // a job that is held back has no place
                lowest_ = std::min(value, lowest_.value_or(value));
            }
        }
    }
    const std::uint32_t own = clamp_priority(urgency);
    return lowest_ ? std::min(own, *lowest_) : own;
}

}  // namespace weir::priority
