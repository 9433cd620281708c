// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the policies that make their reservations anew at each pass: EASY (one reservation), hybrids (n), conservative
// (every job), reservations above a threshold only; and the choice of jobs that fill holes. Must not know modules,
// clocks or how a space is stored. Source: Lifka 1995; Mu'alem and Feitelson 2001; Maui's RESERVATIONDEPTH,
// RESERVATIONTHRESHOLD, BACKFILLPOLICY.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include "libsched/policy/combination.hpp"
#include "libsched/policy/pass.hpp"

namespace weir {

/// The order in which jobs that fit into a hole are tried.
enum class BackfillChoice {
    first_fit,  ///< the queue's order
    shortest,   ///< least requested time first
    best_fit,   ///< greatest metric first
    greedy,     ///< the combination beside the reservations with the greatest sum of metrics, then the others, greatest
                ///< metric first
};
/// The metric that best_fit and greedy maximise.
enum class BackfillMetric { procs, seconds, proc_seconds };

/// Walks the queue in order: a job that fits starts; a job that does not gets a reservation at its earliest place,
/// until `depth` jobs have one. The other jobs start if they fit now without delaying a reservation. Ends are the
/// expected ones; a job may end exactly when a reservation begins. Reservations are made anew after anything but an
/// arrival. A job that the nodes which are up could not run gets none.
struct Backfill {
    static constexpr std::uint32_t all = std::numeric_limits<std::uint32_t>::max();

    std::uint32_t depth = 1;  ///< >= 1
    BackfillChoice choice = BackfillChoice::first_fit;
    BackfillMetric metric = BackfillMetric::procs;
    /// Only jobs that have waited that long and have that priority get a reservation; other jobs block nothing.
    Duration reserve_after{};
    std::uint32_t reserve_above = 0;

    template <typename Queue, typename Space, typename Sink>
    void pass(const Queue& queue, Space& space, const News& news, Instant now, Sink&& sink) const {
        auto& kept = space.reservations();
        if (!kept.hold_at(now, news)) {
            space.clear_reservations();
        }
        kept.stand = true;
        kept.looked = now;
        using Job = std::remove_cvref_t<decltype(*queue.find(QueueKey{}))>;
        std::vector<const Job*> chosen;
        if (kept.all_considered) {
            for (const QueueKey& key : news.arrived) {
                const Job* job = queue.find(key);
                if (job != nullptr && key.priority != priority_held &&
                    space.opening(now).fits(cores_of(*job), job->limit)) {
                    chosen.push_back(job);
                }
            }
        } else {
            auto place = kept.reached ? queue.after(*kept.reached) : queue.begin();
            if (!in_order(queue, place, space, now, sink)) {
                return;
            }
            kept.all_considered = true;
            if (choice == BackfillChoice::first_fit) {
                while (const Job* job = queue.next_fitting(place, space.opening(now))) {
                    start(*job, space, now, sink);
                    place.index++;
                }
                return;
            }
            const Opening opening = space.opening(now);
            for (; const Job* job = queue.next_fitting(place, opening); place.index++) {
                chosen.push_back(job);
            }
        }
        if (choice == BackfillChoice::greedy) {
            std::erase_if(chosen, [&](const Job* job) {  // a combination knows cores, not nodes
                return !space.may_start(*job);
            });
        }
        order(chosen, space, now);
        for (const Job* job : chosen) {
            start(*job, space, now, sink);
        }
    }
    friend bool operator==(const Backfill&, const Backfill&) = default;

  private:
    template <typename Job, typename Space, typename Sink>
    static bool start(const Job& job, Space& space, Instant now, Sink& sink) {
        auto taken = space.start(job, now);
        if (taken) {
            sink.started(job, std::move(*taken));
        }
        return taken.has_value();
    }

    /// Advances `place` to the first job that may start; false if there is none.
    template <typename Queue, typename Place, typename Space>
    static bool next_to_start(const Queue& queue, Place& place, Space& space, Instant now) {
        const auto* job = queue.next_fitting(place, space.opening(now));
        while (job != nullptr && !space.may_start(*job)) {
            place.index++;
            job = queue.next_fitting(place, space.opening(now));
        }
        return job != nullptr;
    }

    /// Starts jobs and makes reservations from `place` on. True: all reservations are made, the jobs from `place` on
    /// are left, and no job before `place` may start. False: no job from `place` on can start (and none of them has a
    /// reservation yet).
    template <typename Queue, typename Place, typename Space, typename Sink>
    bool in_order(const Queue& queue, Place& place, Space& space, Instant now, Sink& sink) const {
        auto& kept = space.reservations();
        Place fitting = place;
        bool any_fits = next_to_start(queue, fitting, space, now);
        for (std::uint32_t reported = 0; const auto* job = queue.at(place); place.index++) {
            if (fitting < place) {
                fitting = place;
                any_fits = any_fits && next_to_start(queue, fitting, space, now);
            }
            if (!any_fits && reported >= sink.blocked_min()) {
                return false;
            }
            kept.reached = job->key;
            if (start(*job, space, now, sink)) {
                continue;
            }
            // A clock that was set back makes submissions of the future.
            const Instant entitled = std::min(job->key.submit, now) + reserve_after;
            if (job->key.priority < reserve_above || entitled > now) {
                kept.first = std::min(kept.first, job->key.priority < reserve_above ? never : entitled);
                sink.blocked(*job, Blocked{});
                reported++;
                continue;
            }
            if (!space.may_ever_start(*job)) {  // a reservation without a time would protect it, and so nobody
                sink.blocked(*job, Blocked{});
                reported++;
                continue;
            }
            sink.blocked(*job, Blocked{space.reserve(*job, now)});
            reported++;
            if (kept.places.size() == depth) {
                place.index++;
                place = std::max(place, fitting);
                return true;
            }
        }
        return false;
    }

    template <typename Job>
    std::int64_t value(const Job& job) const {
        const auto cores = static_cast<std::int64_t>(cores_of(job));
        const std::int64_t seconds = job.limit.count() / 1'000'000;
        switch (metric) {
            case BackfillMetric::procs:
                return cores;
            case BackfillMetric::seconds:
                return seconds;
            case BackfillMetric::proc_seconds:
                break;
        }
        return seconds > std::numeric_limits<std::int64_t>::max() / std::max<std::int64_t>(cores, 1)
                   ? std::numeric_limits<std::int64_t>::max()
                   : cores * seconds;
    }

    /// The jobs as items of a combination beside the reservations, and what bounds it.
    template <typename Job>
    std::vector<Combination::Item> items_of(const std::vector<const Job*>& jobs, const std::vector<Bound>& bounds,
                                            Instant now) const {
        std::vector<Combination::Item> items;
        items.reserve(jobs.size());
        for (const Job* job : jobs) {
            const Instant end = believed_end(now, job->limit);
            const auto after = std::partition_point(bounds.begin(), bounds.end(),
                                                    [&](const Bound& bound) { return bound.after < end; });
            items.push_back({cores_of(*job), static_cast<std::size_t>(after - bounds.begin()), value(*job)});
        }
        return items;
    }

    /// In the order in which they are tried. Equal ones keep the queue's order.
    template <typename Job, typename Space>
    void order(std::vector<const Job*>& jobs, const Space& space, Instant now) const {
        if (choice == BackfillChoice::shortest) {
            std::stable_sort(jobs.begin(), jobs.end(), [](const Job* a, const Job* b) { return a->limit < b->limit; });
        } else if (choice != BackfillChoice::first_fit) {
            std::stable_sort(jobs.begin(), jobs.end(),
                             [&](const Job* a, const Job* b) { return value(*a) > value(*b); });
        }
        if (choice == BackfillChoice::greedy) {
            const std::vector<Bound> bounds = space.bounds();
            std::vector<std::uint64_t> room;
            for (const Bound& bound : bounds) {
                room.push_back(bound.cores);
            }
            std::vector<bool> is_best(jobs.size(), false);
            std::vector<const Job*> best;
            for (const std::size_t i : Combination::best(items_of(jobs, bounds, now), std::move(room))) {
                is_best[i] = true;
                best.push_back(jobs[i]);
            }
            // One of them may still be refused, by its nodes: what it leaves is for the others.
            for (std::size_t i = 0; i < jobs.size(); i++) {
                if (!is_best[i]) {
                    best.push_back(jobs[i]);
                }
            }
            jobs = std::move(best);
        }
    }
};

}  // namespace weir
