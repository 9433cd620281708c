// SPDX-License-Identifier: LGPL-3.0-only
// Owns: conservative backfilling with kept reservations: a job has one from its submission on, and it only moves to
// earlier places. Must not know modules, clocks or how a space is stored. Source: Feitelson and Weil 1998.
#pragma once
#include <algorithm>
#include <unordered_set>
#include <utility>

#include "libsched/policy/pass.hpp"

namespace weir {

/// Every job gets its earliest place when it is submitted. Whenever a job ends, a place is given up or nodes come back,
/// the queue is walked in order and each job moves to its earliest place, with the others' places fixed: no job gets a
/// later place than before, unless its nodes are down, or what runs there overruns its limit, when it is due. At one
/// instant submissions come before ends, and ends are processed one by one.
struct KeptReservations {
    template <typename Queue, typename Space, typename Sink>
    void pass(const Queue& queue, Space& space, const News& news, Instant now, Sink&& sink) const {
        auto& kept = space.reservations();
        kept.wants_returned = true;
        bool has_room = news.first_moved && forget_gone(queue, space, now);
        has_room |= forget_missed(space, now);
        for (auto& back : kept.returned) {
            back.at = now;
            if (back.end > now) {
                space.hold(back, now);
            }
        }
        if (kept.by_job.empty()) {  // also when all places were lost: those who waited come before who arrives now
            move_all(queue, space, now);
        } else {
            for (const QueueKey& key : news.arrived) {
                if (const auto* job = queue.find(key); job != nullptr && key.priority != priority_held) {
                    move(*job, space, now);
                }
            }
        }
        for (const auto& back : kept.returned) {
            if (back.end > now) {
                space.drop(back, now);
            }
            move_all(queue, space, now);
        }
        kept.returned.clear();
        if (std::exchange(kept.has_grown, false) || has_room) {
            move_all(queue, space, now);
        }
        kept.first = never;
        for (auto place = queue.begin(); const auto* job = queue.at(place); place.index++) {
            if (!kept.by_job.contains(job->key.id)) {
                move(*job, space, now);
            }
            const auto held = kept.by_job.find(job->key.id);
            if (held->second.at > now) {
                kept.first = std::min(kept.first, held->second.at);
                sink.blocked(*job, Blocked{expected(held->second.at)});
                continue;
            }
            space.drop(held->second, now);
            if (auto taken = space.start_at(*job, held->second, now)) {
                kept.by_job.erase(held);
                sink.started(*job, std::move(*taken));
                continue;
            }
            // The reservation cannot be kept: a node went down, or a job overran its limit.
            held->second = space.earliest(*job, now);
            space.hold(held->second, now);
            kept.first = std::min(kept.first, held->second.at);
            sink.blocked(*job, Blocked{expected(held->second.at)});
        }
    }
    friend bool operator==(const KeptReservations&, const KeptReservations&) = default;

  private:
    /// Gives up the places of jobs that were cancelled or are held now. \return whether there were some
    template <typename Queue, typename Space>
    static bool forget_gone(const Queue& queue, Space& space, Instant now) {
        std::unordered_set<JobId> waiting;
        for (auto place = queue.begin(); const auto* job = queue.at(place); place.index++) {
            waiting.insert(job->key.id);
        }
        auto& by_job = space.reservations().by_job;
        const std::size_t before = by_job.size();
        for (auto held = by_job.begin(); held != by_job.end();) {
            if (waiting.contains(held->first)) {
                ++held;
                continue;
            }
            space.drop(held->second, now);
            held = by_job.erase(held);
        }
        return by_job.size() < before;
    }
    /// Gives up places that have begun and were not taken, because what ran there overran its limit. They would block
    /// jobs before them. \return whether there were some
    template <typename Space>
    static bool forget_missed(Space& space, Instant now) {
        auto& by_job = space.reservations().by_job;
        const std::size_t before = by_job.size();
        for (auto held = by_job.begin(); held != by_job.end();) {
            if (held->second.at >= now) {
                ++held;
                continue;
            }
            space.drop(held->second, now);
            held = by_job.erase(held);
        }
        return by_job.size() < before;
    }
    template <typename Queue, typename Space>
    static void move_all(const Queue& queue, Space& space, Instant now) {
        for (auto place = queue.begin(); const auto* job = queue.at(place); place.index++) {
            move(*job, space, now);
        }
    }
    template <typename Job, typename Space>
    static void move(const Job& job, Space& space, Instant now) {
        auto& by_job = space.reservations().by_job;
        const auto held = by_job.find(job.key.id);
        if (held != by_job.end()) {
            space.drop(held->second, now);
        }
        auto place = space.earliest(job, now);
        if (held != by_job.end() && place.at > held->second.at) {
            place = held->second;  // its nodes are down, or overrun: they may be back when it is due
        }
        space.hold(place, now);
        by_job.insert_or_assign(job.key.id, place);
    }
};

}  // namespace weir
