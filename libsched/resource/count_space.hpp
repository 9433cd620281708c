// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a machine as a number of equal cores, without nodes: the space of log replays (in the reference schedules
// processors are a count), and its pending jobs. Must not know policies. ResourceSpace gives the same starts for
// requests that name no nodes.
#pragma once
#include <algorithm>
#include <optional>
#include <vector>

#include "libsched/job_queue.hpp"
#include "libsched/resource/profile.hpp"
#include "libsched/resource/reservations.hpp"

namespace weir {

/// A pending job that requests a number of cores.
struct CountJob {
    [[no_unique_address]] QueueKey key;
    std::uint32_t cores = 0;
    Duration limit{};
    friend std::uint64_t cores_of(const CountJob& job) { return job.cores; }
};
static_assert(sizeof(CountJob) == 32, "two to a cache line: backfill reads many");

class CountSpace {
  public:
    struct Taken {
        std::int64_t cores;
    };
    /// Cores reserved for a job from `at` until `end`.
    struct Place {
        Instant at;
        Instant end;
        std::int64_t cores;
    };

    explicit CountSpace(std::int64_t cores) : total_(cores), free_(cores) {}
    std::int64_t free() const { return free_; }
    const AvailabilityProfile& profile() const { return profile_; }
    Reservations<Place>& reservations() { return reservations_; }

    /// The bounds that start() checks first: necessary, and sufficient while at most one job has a reservation.
    Opening opening(Instant now) const {
        const auto free = static_cast<std::uint64_t>(free_);
        if (reservations_.places.size() != 1) {
            return {free, free, Duration::max()};
        }
        return {free, static_cast<std::uint64_t>(extra_), shadow_ - now};
    }

    /// What jobs that start together have to leave to the reservations; sufficient for start().
    std::vector<Bound> bounds() const {
        const auto free = static_cast<std::uint64_t>(free_);
        if (reservations_.places.size() == 1) {
            return {{Instant::min(), free}, {shadow_, static_cast<std::uint64_t>(extra_)}};
        }
        return profile_.bounds(free_);
    }

    /// Whether a job for which there is an opening would fit if nothing were reserved.
    template <typename Job>
    static bool may_start(const Job&) {
        return true;
    }
    /// Cores do not go down.
    template <typename Job>
    static bool may_ever_start(const Job&) {
        return true;
    }
    /// Allocates what the job requests, unless it is not free now or would delay a reservation.
    template <typename Job>
    std::optional<Taken> start(const Job& job, Instant now) {
        const auto need = static_cast<std::int64_t>(cores_of(job));
        if (need > free_) {
            return std::nullopt;
        }
        const Instant end = believed_end(now, job.limit);
        if (reservations_.places.size() == 1) {
            if (end > shadow_) {
                if (need > extra_) {
                    return std::nullopt;
                }
                extra_ -= need;
            }
        } else if (!reservations_.places.empty() && !profile_.stays(free_, need, now, end)) {
            return std::nullopt;
        }
        free_ -= need;
        profile_.change(end, need);
        return Taken{need};
    }

    /// Reserves the earliest place for a job that start() refused. Nothing if it is not expected to fit at any time.
    template <typename Job>
    std::optional<Instant> reserve(const Job& job, Instant now) {
        const auto need = static_cast<std::int64_t>(cores_of(job));
        if (reservations_.places.empty()) {
            // The first reservation needs no entry in the profile: only the cores that it leaves over at its start
            // matter.
            const AvailabilityProfile::Fit fit = profile_.earliest(free_, need, now);
            shadow_ = fit.at;
            extra_ = fit.found ? fit.free - need : total_;
            reservations_.add({fit.at, believed_end(fit.at, job.limit), need});
            return expected(fit.at);
        }
        if (reservations_.places.size() == 1) {
            hold(reservations_.places.front());
        }
        const Place place = earliest(job, now);
        hold(place);
        reservations_.add(place);
        return expected(place.at);
    }

    /// Removes all reservations of reserve().
    void clear_reservations() {
        if (reservations_.places.size() > 1) {
            for (const Place& place : reservations_.places) {
                drop(place);
            }
        }
        reservations_.clear();
    }

    /// Frees the cores of a job that was expected to end at `end`.
    void release(Instant end, std::int64_t cores) {
        profile_.change(end, -cores);
        free_ += cores;
        reservations_.stand = false;
        if (reservations_.wants_returned) {
            reservations_.returned.push_back({end, end, cores});
        }
    }

    // For policies that keep reservations between passes.
    template <typename Job>
    Place earliest(const Job& job, Instant now) const {
        const auto need = static_cast<std::int64_t>(cores_of(job));
        const Instant at = profile_.hole(free_, need, job.limit, now);
        return {at, believed_end(at, job.limit), need};
    }
    void hold(const Place& place, Instant) { hold(place); }
    void drop(const Place& place, Instant) { drop(place); }
    /// Allocates a place that was kept and dropped; nothing if it is not free (a job overran its limit).
    template <typename Job>
    std::optional<Taken> start_at(const Job& job, const Place& place, Instant now) {
        return place.at != never ? start(job, now) : std::nullopt;
    }

  private:
    void hold(const Place& place) {
        profile_.change(place.at, -place.cores);
        profile_.change(place.end, place.cores);
    }
    void drop(const Place& place) {
        profile_.change(place.at, place.cores);
        profile_.change(place.end, -place.cores);
    }

    std::int64_t total_;
    std::int64_t free_;
    AvailabilityProfile profile_;
    Reservations<Place> reservations_;
    Instant shadow_ = never;  ///< of the only reservation
    std::int64_t extra_ = 0;  ///< cores that may be held past shadow_
};

}  // namespace weir
