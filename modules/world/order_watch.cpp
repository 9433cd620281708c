// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the checks of order. See order_watch.hpp.
#include "modules/world/order_watch.hpp"

#include <algorithm>

#include "modules/world/checks.hpp"

namespace weir::world {

using namespace std::chrono_literals;

namespace {

/// Longer than a report, a push and an order take together.
constexpr Duration told_within = 15s;
constexpr Duration forgotten_after = 3s;
/// Four whole units of a priority.
constexpr std::uint64_t rounding = 1U << 12;

/// Whether it holds jobs back that it could start: by a limit of its own share tree, where these are its parent's.
bool holds_back(Instance& instance) {
    const auto& active = instance.manager().jobs().active_jobs();
    return std::any_of(active.begin(), active.end(), [](const auto& one) {
        const jm::Job& job = *one.second;
        return job.state == jm::State::sched && job.priority == 0 && job.urgency != jm::urgency_hold;
    });
}

}  // namespace

bool OrderWatch::is_calm(const Place& place) const {
    return place.live && place.disturbed_until < world_.ground().now();
}

void OrderWatch::look() {
    for (const Place& place : world_.places()) {
        if (!is_calm(place)) {
            continue;
        }
        if (holds_back(*place.live)) {
            held_back_[place.number] = world_.ground().now();
        }
        look_at_scheduler(place);
        look_at_computed(place);
        look_at_waiting(place);
        if (place.parent && is_calm(world_.places()[*place.parent]) && place.live->route().is_attached()) {
            look_at_copies(place);
        }
    }
    since_ = std::exchange(still_, {});
    const Instant now = world_.ground().now();
    std::erase_if(waiting_, [&](const auto& one) { return now - one.second.seen > forgotten_after; });
}

void OrderWatch::stays(const Place& place, const Key& key, const std::string& what) {
    const Instant now = world_.ground().now();
    const auto found = since_.find(key);
    const Instant begin = found != since_.end() ? found->second : now;
    still_.emplace(key, begin);
    if (now - begin >= told_within) {
        world_.ground().fail(place.name, what + ", for " + std::to_string(told_within / 1s) + " s");
    }
}

/// What the scheduler has of the jobs that it was asked for.
void OrderWatch::look_at_scheduler(const Place& place) {
    for (const auto& [id, job] : place.live->manager().jobs().active_jobs()) {
        const PendingJob* waiting = place.live->sched().scheduler().waiting(JobId{id});
        if (job->alloc_pending && waiting != nullptr && waiting->key.priority != job->priority) {
            stays(place, {place.number, Kind::scheduler, id, 0},
                  "the scheduler has priority " + std::to_string(waiting->key.priority) + " for job " +
                      std::to_string(id) + ", and the job-manager " + std::to_string(job->priority));
        }
    }
}

/// What waits in both, of the jobs that came from the parent.
void OrderWatch::look_at_copies(const Place& place) {
    const jm::JobTable& above = world_.places()[*place.parent].live->manager().jobs();
    const route::ChildLink& link = place.live->route().link();
    for (const auto& [id, copy] : place.live->manager().jobs().active_jobs()) {
        const route::JobId parents = link.parent_of(route::LocalId{id});
        const jm::Job* job = link.local_of(parents).value == id ? above.active(parents.value) : nullptr;
        if (job != nullptr && job->state == jm::State::sched && copy->state == jm::State::sched && copy->priority > 0 &&
            job->priority != copy->priority) {  // 0: a limit of its own
            stays(place, {place.number, Kind::copy, copy->id, 0},
                  "job " + std::to_string(copy->id) + " has priority " + std::to_string(copy->priority) +
                      ", and its parent's job " + std::to_string(job->id) + " has " + std::to_string(job->priority));
        }
    }
}

/// Of each queue the first job by what job-priority computes now is the first by what the job-manager has.
void OrderWatch::look_at_computed(const Place& place) {
    const priority::Ranking& ranking = place.live->priority().service().ranking();
    const Instant at = place.live->process().clock.now(world_.ground());
    std::vector<std::pair<const jm::Job*, std::uint64_t>> ranked;
    std::map<std::string, std::pair<const jm::Job*, std::uint64_t>> firsts;
    for (const auto& [id, job] : place.live->manager().jobs().active_jobs()) {
        const bool is_ranked = job->state == jm::State::sched && job->priority > 0 &&
                               job->urgency != jm::urgency_hold && job->urgency != jm::urgency_expedite;
        const std::uint64_t fine = is_ranked ? ranking.fine_priority(id, at) : 0;
        if (fine > 0) {
            ranked.emplace_back(job.get(), fine);
            auto& first = firsts[job->facts.queue];
            first = std::max(first, ranked.back(), [](const auto& a, const auto& b) { return a.second < b.second; });
        }
    }
    for (const auto& [job, fine] : ranked) {
        const auto& [first, most] = firsts[job->facts.queue];
        if (job->priority > first->priority && most - fine > rounding) {
            stays(place, {place.number, Kind::computed, job->id, first->id},
                  "job " + std::to_string(first->id) + " is before job " + std::to_string(job->id) +
                      " by what job-priority computes, and behind it in the job-manager");
        }
    }
}

void OrderWatch::look_at_waiting(const Place& place) {
    const Instant now = world_.ground().now();
    for (const auto& [id, job] : place.live->manager().jobs().active_jobs()) {
        const route::RouteJob* routed = place.live->route().table().active(route::JobId{id});
        if (job->state != jm::State::sched || routed == nullptr ||
            !place.live->route().table().is_routed(route::JobId{id})) {
            continue;
        }
        Waiting& waiting = waiting_[{place.number, id}];
        const bool is_here = job->priority > 0 && place.live->route().table().find(route::JobId{id})->child.value == 0;
        if (is_here && !std::exchange(waiting.is_here, is_here)) {
            waiting.since = now;
        }
        waiting.is_here = is_here;
        waiting.seen = now;
        std::rotate(waiting.priorities.begin(), waiting.priorities.end() - 1, waiting.priorities.end());
        waiting.priorities.front() = job->priority;
    }
}

/// Whether this job was to be given to the partition before the one that starts: it came first at each of the last
/// looks, and does so now. A job that a limit held back until now comes before it at once.
bool OrderWatch::is_passed(const Place& parent, const Place& partition, const Starting& starting,
                           const Job& job) const {
    const Waiting& waiting = waiting_.at(job);
    const jm::Job* found = parent.live->manager().jobs().active(job.second);
    if (!waiting.is_here || world_.ground().now() - waiting.since < told_within || found == nullptr ||
        found->state != jm::State::sched ||
        parent.live->route().table().find(route::JobId{job.second})->child.value != 0 ||
        found->priority <= starting.priority) {
        return false;
    }
    for (std::size_t i = 0; i < waiting.priorities.size(); ++i) {
        if (waiting.priorities[i] <= starting.before[i]) {
            return false;
        }
    }
    return does_take(*parent.live, job.second, partition.name);
}

void OrderWatch::began(const Place& partition, const Submission& submission) {
    if (!partition.parent || *partition.parent != submission.at || !is_calm(partition) ||
        !is_calm(world_.places()[submission.at]) || !partition.children.empty() ||
        partition.partition_limits.counts_users()) {  // the one that comes first may have been over its user's
        return;
    }
    const auto held_back = held_back_.find(partition.number);
    if (held_back != held_back_.end() && world_.ground().now() - held_back->second < told_within) {
        return;  // what its own share tree holds back takes places that the parent would give to better jobs
    }
    const Place& parent = world_.places()[submission.at];
    const auto known = waiting_.find({parent.number, submission.answered_id});
    const jm::Job* begun = parent.live->manager().jobs().active(submission.answered_id);
    if (known == waiting_.end() || begun == nullptr) {
        return;
    }
    const Starting starting{begun->priority, known->second.priorities};
    for (const auto& [job, waiting] : waiting_) {
        const jm::Job* other = job.first == parent.number ? parent.live->manager().jobs().active(job.second) : nullptr;
        if (other == nullptr || job.second == submission.answered_id) {
            continue;
        }
        const Submission& passed = world_.submissions().at(submission_in(other->jobspec_text.redacted));
        if (passed.queue == submission.queue && passed.cores <= submission.cores && passed.limit <= submission.limit &&
            is_passed(parent, partition, starting, job)) {
            world_.ground().fail(partition.name, "job " + std::to_string(submission.answered_id) + " of " +
                                                     parent.name + " starts, and job " + std::to_string(job.second) +
                                                     ", which comes first and needs no more, waits there");
        }
    }
}

}  // namespace weir::world
