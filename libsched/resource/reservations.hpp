// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the reservations of one pass, and how far that pass came, for the next one to go on from there. Must not know
// what a place is made of.
#pragma once
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <vector>

#include "libsched/job_queue.hpp"

namespace weir {

/// Place: `at`, when it begins.
template <typename Place>
struct Reservations {
    std::vector<Place> places;
    Instant first = never;  ///< when the earliest begins
    bool stand = false;     ///< nothing has changed since but by jobs that started beside them
    /// The last job that was considered in order; of those behind it each was refused, if `all_considered`, else they
    /// have not been looked at.
    std::optional<QueueKey> reached;
    bool all_considered = false;

    // Of a policy that keeps them from pass to pass.
    std::unordered_map<JobId, Place> by_job;
    bool wants_returned = false;
    std::vector<Place> returned;  ///< what came back since the last pass, one by one, if wanted; `at` says nothing

    void add(Place place) {
        first = std::min(first, place.at);
        places.push_back(std::move(place));
    }
    void clear() {
        places.clear();
        first = never;
        reached.reset();
        all_considered = false;
    }

    /// Whether a pass at `now` may go on where the last one stopped: it would decide the same up to there.
    bool hold_at(Instant now, const News& news) const {
        return stand && reached && first > now && (!news.first_moved || *news.first_moved > *reached) &&
               (news.arrived.empty() || news.arrived.front() > *reached);
    }
};

}  // namespace weir
