// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the two policies without reservations: first come, first served, and Torque's first fit with its help for
// starving jobs. Must not know modules, clocks or how a space is stored.
#pragma once
#include <algorithm>
#include <vector>

#include "libsched/policy/pass.hpp"

namespace weir {

/// Starts from the head while it fits; stops at the first that does not.
struct Fcfs {
    template <typename Queue, typename Space, typename Sink>
    void pass(const Queue& queue, Space& space, const News&, Instant now, Sink&& sink) const {
        auto place = queue.begin();
        while (const auto* job = queue.at(place)) {
            auto taken = space.start(*job, now);
            if (!taken) {
                sink.blocked(*job, Blocked{});
                return;
            }
            sink.started(*job, std::move(*taken));
            place.index++;
        }
    }
    friend bool operator==(const Fcfs&, const Fcfs&) = default;
};

/// Starts all jobs that fit, in queue order, without reservations. If a job has waited for `starve_after`, only
/// starving jobs start, the longest waiting first, until it fits (the machine drains). No job waits for a starving one
/// that the nodes now up could not run empty: draining the machine would not help it. Source: Torque's pbs_sched,
/// help_starving_jobs and max_starve.
struct FirstFit {
    /// zero: no help for starving jobs
    Duration starve_after = std::chrono::hours(24);

    template <typename Queue, typename Space, typename Sink>
    void pass(const Queue& queue, Space& space, const News&, Instant now, Sink&& sink) const {
        using Job = std::remove_cvref_t<decltype(*queue.find(QueueKey{}))>;
        std::vector<const Job*> starving;
        auto place = queue.begin();
        const Job* first = queue.at(place);
        if (first != nullptr && starve_after > Duration{}) {
            queue.walk([&](const Job& job) {
                if (job.key.priority != priority_held && now - job.key.submit >= starve_after) {
                    starving.push_back(&job);
                }
                return true;
            });
        }
        std::sort(starving.begin(), starving.end(), [](const Job* a, const Job* b) {
            return std::pair(a->key.submit, a->key.id) < std::pair(b->key.submit, b->key.id);
        });
        std::vector<JobId> helped;
        for (const Job* job : starving) {
            auto taken = space.start(*job, now);
            if (!taken) {
                if (!space.may_ever_start(*job)) {
                    continue;
                }
                sink.blocked(*job, Blocked{});
                return;
            }
            sink.started(*job, std::move(*taken));
            helped.push_back(job->key.id);
        }
        bool is_first = true;
        while (const Job* job = is_first && sink.blocked_min() > 0 ? queue.at(place)
                                                                   : queue.next_fitting(place, space.opening(now))) {
            if (std::find(helped.begin(), helped.end(), job->key.id) == helped.end()) {
                if (auto taken = space.start(*job, now)) {
                    sink.started(*job, std::move(*taken));
                } else if (is_first) {
                    sink.blocked(*job, Blocked{});
                    is_first = false;
                }
            }
            place.index++;
        }
    }
    friend bool operator==(const FirstFit&, const FirstFit&) = default;
};

}  // namespace weir
