// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the availability profile: the changes in free cores over time, from the expected ends of running jobs and from
// reservations. It finds when and for how long n cores are free by skipping whole chunks of steps: sub-linear in the
// running jobs. Must not know jobs or nodes.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "libsched/job.hpp"
#include "libsched/job_queue.hpp"
#include "libsched/sorted_chunks.hpp"

namespace weir {

class AvailabilityProfile {
  public:
    /// When `need` cores are free, and how many are free then.
    struct Fit {
        Instant at = never;
        std::int64_t free = 0;
        bool found = false;
    };

    /// From `at` on `cores` more are free (fewer if negative). Changes that cancel out leave no step.
    void change(Instant at, std::int64_t cores) {
        const std::int64_t key = at.time_since_epoch().count();
        const auto place = steps_.lower_bound(key);
        if (!steps_.is_at(place, key)) {
            steps_.insert_at(place, {key, cores});
        } else if (steps_.chunks()[place.chunk].items[place.index].cores + cores == 0) {
            steps_.erase_at(place);
        } else {
            steps_.update_at(place, [&](Step& step) { step.cores += cores; });
        }
    }
    std::size_t size() const { return steps_.size(); }
    /// Total number of steps and chunks that queries have looked at.
    std::uint64_t looked_at() const { return looked_at_; }

    /// Earliest instant >= now at which free + the cores freed by then >= need, without reservations. Cores that are
    /// overdue count as freed now.
    Fit earliest(std::int64_t free, std::int64_t need, Instant now) const {
        Fit fit{now, free, free >= need};
        for (const auto& chunk : steps_.chunks()) {
            looked_at_++;
            if (!fit.found && fit.free + chunk.summary.sum < need) {
                fit.free += chunk.summary.sum;
                continue;
            }
            for (const Step& step : chunk.items) {
                looked_at_++;
                const Instant at = std::max(Instant{Duration{step.at_us}}, now + Duration{1});
                if (fit.found && at > fit.at) {
                    return fit;
                }
                fit.free += step.cores;
                if (!fit.found && fit.free >= need) {
                    fit.found = true;
                    fit.at = at;
                }
            }
        }
        return fit;
    }

    /// Earliest instant >= now from which on `need` cores stay free for `limit`; `never` when there is none. `free`:
    /// now. Cores that are overdue become free one microsecond from now.
    Instant hole(std::int64_t free, std::int64_t need, Duration limit, Instant now) const {
        return hole(free, need, limit, now, {now, never});
    }
    struct Bounds {
        Instant from;     ///< >= now
        Instant horizon;  ///< after it no cores need to be free
    };
    /// The same, from `from` on.
    Instant hole(std::int64_t free, std::int64_t need, Duration limit, Instant now, const Bounds& bounds) const {
        const bool fits = bounds.from > now ? free + returned(bounds.from) >= need : free >= need;
        Search search{free, need, limit, now, bounds, fits ? bounds.from : never, never};
        search.end = search.end_from(search.start);
        for (const auto& chunk : steps_.chunks()) {
            looked_at_++;
            if (skip(chunk, search)) {
                continue;
            }
            if (scan(chunk, search)) {
                break;
            }
        }
        return search.start;
    }

    /// Whether `need` cores stay free from now until `end`.
    bool stays(std::int64_t free, std::int64_t need, Instant now, Instant end) const {
        Search search{free, need, end - now, now, {now, never}, free >= need ? now : never, end};
        for (const auto& chunk : steps_.chunks()) {
            looked_at_++;
            if (search.start != now || (!skip(chunk, search) && scan(chunk, search))) {
                break;
            }
        }
        return search.start == now;
    }

    /// How many cores jobs that start at once may hold beside the reservations. `free`: the cores that are free at
    /// once. One bound for the start, and one for each instant from which on fewer cores are free than at any earlier
    /// one: at most one more than there are reservations. O(steps).
    std::vector<Bound> bounds(std::int64_t free) const {
        const auto cores = [](std::int64_t n) { return static_cast<std::uint64_t>(std::max<std::int64_t>(n, 0)); };
        std::int64_t lowest = free;
        std::vector<Bound> bounds{{Instant::min(), cores(free)}};
        for (const auto& chunk : steps_.chunks()) {
            looked_at_++;
            if (chunk.summary.is_known && free + chunk.summary.low >= lowest) {
                free += chunk.summary.sum;
                continue;
            }
            for (const Step& step : chunk.items) {
                looked_at_++;
                free += step.cores;
                if (free < lowest) {
                    lowest = free;
                    bounds.push_back({Instant{Duration{step.at_us}}, cores(free)});
                }
            }
        }
        return bounds;
    }

  private:
    struct Step {
        std::int64_t at_us;
        std::int64_t cores;
    };
    struct Traits {
        static std::int64_t key(const Step& step) { return step.at_us; }
        struct Summary {
            std::int64_t sum = 0;
            std::int64_t low = 0;   ///< least prefix sum of the chunk's steps, if known
            std::int64_t high = 0;  ///< greatest
            bool is_known = false;
            void add(const Step& step) {
                sum += step.cores;
                is_known = false;
            }
            void remove(const Step& step) {
                sum -= step.cores;
                is_known = false;
            }
        };
    };
    using Steps = SortedChunks<Step, Traits>;
    /// A walk that looks for a hole: `start` is the beginning of the current one (never: none), `end` is where it is
    /// long enough.
    struct Search {
        std::int64_t free;
        std::int64_t need;
        Duration limit;
        Instant now;
        Bounds bounds;
        Instant start;
        Instant end;
        Instant end_from(Instant at) const { return std::min(believed_end(at, limit), bounds.horizon); }
        /// Whether a step is before the walk begins: it only adds to the sum.
        bool is_before(const Step& step) const {
            return bounds.from > now && step.at_us <= bounds.from.time_since_epoch().count();
        }
    };

    /// The cores that became free by then.
    std::int64_t returned(Instant at) const {
        std::int64_t cores = 0;
        const std::int64_t at_us = at.time_since_epoch().count();
        for (const auto& chunk : steps_.chunks()) {
            looked_at_++;
            if (chunk.items.back().at_us <= at_us) {
                cores += chunk.summary.sum;
                continue;
            }
            for (auto step = chunk.items.begin(); step->at_us <= at_us; ++step) {
                looked_at_++;
                cores += step->cores;
            }
            break;
        }
        return cores;
    }

    static bool skip(const typename Steps::Chunk& chunk, Search& search) {
        const auto& summary = chunk.summary;
        if (search.is_before(chunk.items.back())) {
            search.free += summary.sum;
            return true;
        }
        if (!summary.is_known) {
            return false;
        }
        const bool is_same = search.start == never
                                 ? search.free + summary.high < search.need
                                 : search.free + summary.low >= search.need &&
                                       chunk.items.back().at_us < search.end.time_since_epoch().count();
        search.free += is_same ? summary.sum : 0;
        return is_same;
    }
    /// True when the hole is found.
    bool scan(const typename Steps::Chunk& chunk, Search& search) const {
        const std::int64_t before = search.free;
        std::int64_t low = std::numeric_limits<std::int64_t>::max();
        std::int64_t high = std::numeric_limits<std::int64_t>::min();
        std::int64_t free = before;
        const std::int64_t now_us = search.now.time_since_epoch().count();
        for (const Step& step : chunk.items) {
            looked_at_++;
            if (search.start != never && step.at_us >= search.end.time_since_epoch().count()) {
                return true;
            }
            free += step.cores;
            low = std::min(low, free);
            high = std::max(high, free);
            if (search.is_before(step)) {
                continue;
            }
            if (free < search.need) {
                search.start = never;
            } else if (search.start == never) {
                search.start = Instant{Duration{std::max(step.at_us, now_us + 1)}};
                search.end = search.end_from(search.start);
            }
        }
        search.free = free;
        chunk.summary.low = low - before;
        chunk.summary.high = high - before;
        chunk.summary.is_known = true;
        return false;
    }

    Steps steps_;
    mutable std::uint64_t looked_at_ = 0;
};

}  // namespace weir
