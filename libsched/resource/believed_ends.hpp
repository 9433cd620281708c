// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which running job is believed to end when, in order, and the availability profile that follows. Must not know
// what the jobs hold.
#pragma once
#include "libsched/resource/profile.hpp"

namespace weir {

class BelievedEnds {
  public:
    struct End {
        Instant at;
        JobId id;
        std::int64_t cores = 0;
    };

    void add(JobId id, Instant end, std::int64_t cores) {
        WEIR_CHECK(ends_.insert({end, id, cores}));
        profile_.change(end, cores);
    }
    void remove(JobId id, Instant end) {
        const Key key{end.time_since_epoch().count(), id};
        const End* gone = ends_.find(key);
        WEIR_CHECK(gone != nullptr);
        profile_.change(end, -gone->cores);
        ends_.erase(key);
    }
    const AvailabilityProfile& profile() const { return profile_; }
    AvailabilityProfile::Fit earliest(std::int64_t free, std::int64_t need, Instant now) const {
        return profile_.earliest(free, need, now);
    }
    /// Calls visit(end) by time, then id, until it returns false.
    template <typename Visit>
    void walk(Visit&& visit) const {
        ends_.walk(visit);
    }

  private:
    struct Key {
        std::int64_t at_us;
        JobId id;
        friend auto operator<=>(const Key&, const Key&) = default;
    };
    struct Traits {
        static Key key(const End& end) { return {end.at.time_since_epoch().count(), end.id}; }
        struct Summary {
            void add(const End&) {}
            void remove(const End&) {}
        };
    };

    SortedChunks<End, Traits> ends_;
    AvailabilityProfile profile_;
};

}  // namespace weir
