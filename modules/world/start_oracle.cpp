// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the oracle of starts. See start_oracle.hpp.
#include "modules/world/start_oracle.hpp"

#include <algorithm>

namespace weir::world {
namespace {

std::string listed(const std::vector<JobId>& jobs) {
    std::string text;
    for (const JobId id : jobs) {
        text += (text.empty() ? "" : ", ") + std::to_string(id.value);
    }
    return text.empty() ? "none" : text;
}

}  // namespace

void StartOracle::prioritize(JobId id, std::uint32_t priority) {
    if (const auto found = wishes_.find(id); found != wishes_.end()) {
        found->second.key.priority = priority;
    }
}

void StartOracle::keep_greeted(const std::unordered_set<JobId>& running) {
    std::erase_if(held_, [&](const auto& one) { return one.second.is_greeted && running.count(one.first) == 0; });
}

std::uint32_t StartOracle::free_cores() const {
    std::uint32_t free = cores_;
    for (const auto& [id, held] : held_) {
        free -= held.cores;
    }
    return free;
}

StartOracle::Shadow StartOracle::shadow_of(std::uint32_t cores, Instant now) const {
    std::vector<Held> ends;
    for (const auto& [id, held] : held_) {
        if (held.end != never) {
            ends.push_back({held.cores, std::max(held.end, now + Duration{1}), false});
        }
    }
    std::sort(ends.begin(), ends.end(), [](const Held& a, const Held& b) { return a.end < b.end; });
    std::uint32_t free = free_cores();
    for (std::size_t i = 0; i < ends.size();) {
        const Instant at = ends[i].end;
        for (; i < ends.size() && ends[i].end == at; ++i) {
            free += ends[i].cores;
        }
        if (free >= cores) {
            return {at, free - cores, true};
        }
    }
    return {};
}

/// Moves them from the waiting to the running ones.
std::vector<JobId> StartOracle::starts(Instant now) {
    std::vector<Wish> queue;
    for (const auto& [id, wish] : wishes_) {
        queue.push_back(wish);
    }
    std::sort(queue.begin(), queue.end(), [](const Wish& a, const Wish& b) { return a.key < b.key; });
    std::vector<JobId> started;
    Shadow shadow;
    for (const Wish& wish : queue) {
        const Instant end = believed_end(now, wish.limit);
        const bool fits = wish.cores <= free_cores();
        const bool delays = shadow.is_known && end > shadow.at && wish.cores > shadow.spare;
        if (fits && !delays) {
            shadow.spare -= shadow.is_known && end > shadow.at ? wish.cores : 0;
            hold(wish.key.id, wish.cores, end);
            started.push_back(wish.key.id);
        } else if (!is_easy_) {
            break;
        } else if (!shadow.is_known) {
            shadow = shadow_of(wish.cores, now);
        }
    }
    return started;
}

std::string StartOracle::describe(Instant now) const {
    const auto seconds = [&](Instant at) {
        return at == never ? std::string("never") : std::to_string(to_seconds(at - now));
    };
    std::string text = std::to_string(free_cores()) + " cores are free. Running:";
    for (const auto& [id, held] : held_) {
        text += " " + std::to_string(id.value) + " (" + std::to_string(held.cores) + " cores, ends in " +
                seconds(held.end) + ")";
    }
    text += ". Waiting:";
    for (const auto& [id, wish] : wishes_) {
        text += " " + std::to_string(id.value) + " (" + std::to_string(wish.cores) + " cores, priority " +
                std::to_string(wish.key.priority) + ", " + std::to_string(to_seconds(wish.limit)) + " s)";
    }
    return text;
}

std::string StartOracle::check(const std::vector<JobId>& started, Instant now) {
    const std::string before = describe(now);
    std::vector<JobId> right = starts(now);
    std::vector<JobId> found = started;
    std::sort(right.begin(), right.end());
    std::sort(found.begin(), found.end());
    for (const JobId id : found) {
        wishes_.erase(id);
    }
    return right == found ? std::string()
                          : "by their order these jobs may start: " + listed(right) +
                                "; and these did: " + listed(found) + ". " + before;
}

}  // namespace weir::world
