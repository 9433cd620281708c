// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see forecast.hpp.
#include "libsched/forecast.hpp"

#include <algorithm>
#include <array>
#include <queue>

#include "libsched/resource/words.hpp"

namespace weir {
namespace {

struct Ending {
    Instant at;
    JobId id;
    friend bool operator>(const Ending& a, const Ending& b) { return a.at != b.at ? a.at > b.at : a.id > b.id; }
};
using Endings = std::priority_queue<Ending, std::vector<Ending>, std::greater<>>;

constexpr std::array<std::string_view, 6> reason_names{"held",  "nodes-down",  "resources",
                                                       "order", "reservation", "next-pass"};

/// What is free on the nodes that satisfy the job's constraints. For a job that requests memory also the most that one
/// of them has free.
std::string free_words(const ResourcePool& pool, const Request& request) {
    const std::vector<bool>* in_set = pool.sets().at(request.node_set);
    Room free;
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

Forecast forecast(const Scheduler& scheduler, JobId id, Instant now, std::uint64_t budget) {
    const PendingJob* job = scheduler.waiting(id);
    if (job == nullptr || job->key.priority == priority_held || !scheduler.space().pool().feasible_now(job->request)) {
        return {};
    }
    Scheduler ahead = scheduler;
    const std::uint64_t considered = ahead.counters().considered;
    Endings ends;
    for (const auto& [running, what] : ahead.space().running()) {
        ends.push({what.end, running});
    }
    for (Instant at = now;;) {
        for (const Scheduler::Start& start : ahead.pass(at).started) {
            if (start.id == id) {
                return {at, std::nullopt};
            }
            ends.push({start.end, start.id});
        }
        if (ends.empty() || ends.top().at == never) {
            return {};
        }
        at = std::max(ends.top().at, at);  // what is overdue ends at any moment
        if (ahead.counters().considered - considered > budget) {
            return {std::nullopt, at};
        }
        while (!ends.empty() && ends.top().at <= at) {
            WEIR_CHECK(ahead.free(ends.top().id, {}, true).has_value());
            ends.pop();
        }
    }
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
        out.behind_at = space.reserve(*first, now);
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
