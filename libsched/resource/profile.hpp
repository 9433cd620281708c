// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the availability profile: when the running jobs are believed to end and how many cores come back then. Answers
// "when are n cores free" by skipping whole chunks of ends: sub-linear in the running jobs. EASY's shadow time.
// Must not know nodes; ResourceSpace refines its answer where nodes matter.
#pragma once
#include <cstdint>

#include "libsched/job.hpp"
#include "libsched/sorted_chunks.hpp"

namespace weir {

class AvailabilityProfile {
  public:
    struct End {
        Instant at;
        JobId id;
        std::int64_t cores = 0;
    };
    struct Key {
        std::int64_t at_us;
        JobId id;
        friend auto operator<=>(const Key&, const Key&) = default;
    };
    struct Traits {
        static Key key(const End& end) { return {end.at.time_since_epoch().count(), end.id}; }
        static std::int64_t weight(const End& end) { return end.cores; }
    };
    /// When `need` cores are free, and how many are then: all ends of the same instant come back together.
    struct Fit {
        Instant at = never;
        std::int64_t free = 0;
        bool found = false;
    };

    void add(JobId id, Instant end, std::int64_t cores) { WEIR_CHECK(ends_.insert({end, id, cores})); }
    void remove(JobId id, Instant end) { WEIR_CHECK(ends_.erase(Key{end.time_since_epoch().count(), id})); }
    std::size_t size() const { return ends_.size(); }
    std::int64_t cores() const { return ends_.weight(); }

    /// Earliest instant >= now at which free + what ended by then >= need. Ends before now count as ending now.
    Fit earliest(std::int64_t free, std::int64_t need, Instant now) const {
        Fit fit{now, free, free >= need};
        const auto& chunks = ends_.chunks();
        for (std::size_t c = 0; c < chunks.size(); c++) {
            if (!fit.found && fit.free + chunks[c].weight < need) {
                fit.free += chunks[c].weight;
                continue;
            }
            for (const End& end : chunks[c].items) {
                const Instant at = end.at < now ? now : end.at;
                if (fit.found && at > fit.at) {
                    return fit;
                }
                fit.free += end.cores;
                if (!fit.found && fit.free >= need) {
                    fit.found = true;
                    fit.at = at;
                }
            }
        }
        return fit;
    }

    /// Calls visit(end) by time, then id, until it returns false.
    template <typename Visit>
    void walk(Visit&& visit) const {
        ends_.walk(visit);
    }

  private:
    SortedChunks<End, Traits> ends_;
};

}  // namespace weir
