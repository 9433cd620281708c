// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see forecast.hpp.
#include "libsched/forecast.hpp"

#include <algorithm>
#include <array>

#include "libsched/resource/words.hpp"

namespace weir {
namespace {

constexpr std::array<std::string_view, 6> reason_names{"held",  "nodes-down",  "resources",
                                                       "order", "reservation", "next-pass"};

/// What is free on the nodes that satisfy the job's constraints. For a job that requests memory also the most that one
/// of them has free.
std::string free_words(const ResourcePool& pool, const Request& request) {
    const std::vector<bool>* in_set = pool.sets().at(request.node_set);
    Amounts free;
    std::uint32_t largest_mib = 0;
    for (std::size_t i = 0; i < pool.free_by_node().size(); i++) {
        if (in_set == nullptr || (*in_set)[i]) {
            free += pool.free_by_node()[i];
            largest_mib = std::max(largest_mib, pool.free_by_node()[i].memory_mib);
        }
    }
    free.memory_mib = 0;
    return words_of(free) + (in_set != nullptr ? " on the nodes that satisfy its constraints" : "") +
           (request.memory_per_slot_mib > 0 ? "; at most " + std::to_string(largest_mib) + " MiB on one node" : "");
}

}  // namespace

std::string_view name_of(WaitReason reason) {
    return reason_names[static_cast<std::size_t>(reason)];
}

ForecastCourse::ForecastCourse(const Scheduler& scheduler, Instant now, std::size_t jobs)
    : ahead_(scheduler.head(jobs)), begin_(now), at_(now) {
    looked_at_before_ = looked_at();
    for (const auto& [running, what] : ahead_.space().running()) {
        ends_.push({what.end, running});
        good_until_ = std::min(good_until_, what.end);
    }
}

/// A pass, and the ends that come next.
void ForecastCourse::advance() {
    for (const Scheduler::Start& start : ahead_.pass(at_).started) {
        starts_.emplace(start.id.value, at_);
        ends_.push({start.end, start.id});
    }
    const Instant next = ends_.empty() ? never : std::max(ends_.top().at, at_);  // what is overdue ends at any moment
    is_over_ = !ahead_.space().expected_start(next);
    if (is_over_) {
        return;
    }
    at_ = next;
    while (!ends_.empty() && ends_.top().at <= at_) {
        WEIR_CHECK(ahead_.free(ends_.top().id, {}, true).has_value());
        ends_.pop();
    }
}

Forecast ForecastCourse::of(JobId id, std::uint64_t budget) {
    const PendingJob* job = ahead_.waiting(id);
    const bool never_starts =
        job != nullptr && (job->key.priority == priority_held || !ahead_.space().pool().feasible_now(job->request));
    const std::uint64_t before = looked_at();
    while (!never_starts) {
        if (const auto start = starts_.find(id.value); start != starts_.end()) {
            return {start->second, std::nullopt};
        }
        if (is_over_ || ahead_.waiting(id) == nullptr) {
            break;
        }
        if (looked_at() - before > budget) {
            return {std::nullopt, at_};
        }
        advance();
    }
    return {};
}

Forecast forecast(const Scheduler& scheduler, JobId id, Instant now, std::uint64_t budget, std::size_t jobs) {
    if (scheduler.waiting(id) == nullptr) {
        return {};
    }
    ForecastCourse course(scheduler, now, jobs);
    return course.has(id) ? course.of(id, budget) : Forecast{.is_too_far_back = true};
}

std::optional<Waiting> why_waiting(const Scheduler& scheduler, JobId id, Instant now) {
    const PendingJob* job = scheduler.waiting(id);
    if (job == nullptr) {
        return std::nullopt;
    }
    Waiting out;
    const PendingJob* first = nullptr;
    scheduler.walk([&](const PendingJob& other) {
        out.place++;
        first = first == nullptr ? &other : first;
        return other.key.id != id;
    });
    const ResourcePool& pool = scheduler.space().pool();
    if (job->key.priority == priority_held) {
        out.reason = WaitReason::held;
        out.text = "is held: its priority is 0";
        return out;
    }
    if (first != job) {
        out.behind = first->key.id;
        ResourceSpace space = scheduler.space();
        space.clear_reservations();
        const auto at = space.reserve(*first, now);
        out.behind_at = at ? space.expected_start(*at) : std::nullopt;
    }
    if (!pool.feasible_now(job->request)) {
        out.reason = WaitReason::nodes_down;
        out.text = "asks for " + words_of(job->request) + ", for which too many of the nodes are drained or down";
    } else if (!pool.place(job->request, pool.free_by_node(), {})) {
        out.reason = WaitReason::resources;
        out.text = "waits for " + words_of(job->request) + (first == job ? ", next to start" : "") +
                   "; free: " + free_words(pool, job->request);
    } else if (first == job) {
        out.reason = WaitReason::next_pass;
        out.text = "is next to start";
    } else if (std::holds_alternative<Fcfs>(scheduler.policy())) {
        out.reason = WaitReason::order;
        out.text = "has its resources free, but no job starts before the head job";
    } else {
        out.reason = WaitReason::reservation;
        out.text = "has its resources free, but would delay the head job";
    }
    return out;
}

}  // namespace weir
