// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the reservations of one pass, and how far that pass came, so that the next one can continue there. Must not
// know what a place consists of.
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
    Instant first = never;  ///< when the earliest of a job that waits begins
    Instant looked{};       ///< when the last pass was
    /// Whether nothing has changed what is free since the last pass, except jobs that started beside the reservations.
    bool stand = false;
    /// The last job that was considered in order. If `all_considered`, every job behind it was refused; otherwise these
    /// have not been considered.
    std::optional<QueueKey> reached;
    bool all_considered = false;

    // For a policy that keeps reservations between passes.
    std::unordered_map<JobId, Place> by_job;
    bool wants_returned = false;
    bool has_grown = false;       ///< nodes came back since the last pass
    std::vector<Place> returned;  ///< what became free since the last pass, one by one, if wanted; `at` is unused

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

    /// Whether a pass at `now` may continue where the last one stopped, because it would decide the same up to there.
    bool hold_at(Instant now, const News& news) const {
        const bool has_gone_on = now >= looked;  // a clock may be set back
        return stand && reached && first > now && has_gone_on && (!news.first_moved || *news.first_moved > *reached) &&
               (news.arrived.empty() || news.arrived.front() > *reached);
    }
};

}  // namespace weir
