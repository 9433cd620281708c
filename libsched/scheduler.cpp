// SPDX-License-Identifier: LGPL-3.0-only
// Owns: applying events to the queue and the space, and a policy's decisions to the queue.
#include "libsched/scheduler.hpp"

#include <algorithm>
#include <map>

#include "libsched/resource/words.hpp"

namespace weir {
namespace {

/// Where a larger part of the queue moves, sorting all of it costs less than moving the jobs one by one.
constexpr std::size_t sorted_anew_from = 16;

}  // namespace

void Scheduler::set_up(const IdSet& ranks, bool up) {
    space_.set_up(ranks, up);
    dirty_ = true;
}

std::vector<std::pair<JobId, Error>> Scheduler::shrink(const IdSet& ranks) {
    space_.shrink(ranks);
    dirty_ = true;
    std::map<Request, Status> feasible;  // many jobs have equal requests
    std::vector<std::pair<JobId, Error>> refused;
    queue_.walk([&](const PendingJob& job) {
        auto known = feasible.find(job.request);
        if (known == feasible.end()) {
            known = feasible.emplace(job.request, space_.pool().feasible(job.request)).first;
        }
        if (!known->second) {
            refused.emplace_back(job.key.id, known->second.error());
        }
        return true;
    });
    for (const auto& [id, why] : refused) {
        (void)cancel(id);
    }
    return refused;
}

void Scheduler::set_instance_end(Instant end) {
    space_.set_horizon(end);
    dirty_ = true;
}

void Scheduler::set_resources(const ResourceSet& all, const IdSet& up, NodeNames names, NodeChoice choice) {
    space_ = ResourceSpace(ResourcePool(all, up, choice));
    names_ = std::move(names);
}

Status Scheduler::hello(JobId id, ResourceSet resources, Instant end) {
    auto claimed = space_.claim(id, std::move(resources), end);
    if (claimed) {
        greeted_.push_back(id);
    }
    return claimed;
}

void Scheduler::confirm_hello(const std::unordered_set<JobId>& running) {
    for (const JobId id : std::exchange(greeted_, {})) {
        if (!running.contains(id) && space_.running().contains(id)) {
            (void)free(id, {}, true);
        }
    }
}

std::uint32_t Scheduler::keep_set(const Constraint& constraint) {
    if (constraint.is_empty()) {
        return 0;
    }
    IdSet all;
    for (const ResourcePool::Node& node : space_.pool().nodes()) {
        all.add(node.rank);
    }
    return space_.keep_set(ranks_for(constraint, names_, all));
}

Status Scheduler::feasible(const Request& request, const Constraint& constraint) {
    Request bound = request;
    bound.node_set = keep_set(constraint);
    Status possible = space_.pool().feasible(bound);
    space_.drop_set(bound.node_set);
    return possible;
}

Status Scheduler::alloc(PendingJob job, const Constraint& constraint) {
    if (keys_.contains(job.key.id) || space_.running().contains(job.key.id)) {
        return Error{std::errc::file_exists, "the job asked for resources before"};
    }
    job.request.node_set = keep_set(constraint);
    if (auto possible = space_.pool().feasible(job.request); !possible) {
        space_.drop_set(job.request.node_set);
        return possible;
    }
    job.limit = std::min(job.limit, limit_max);
    WEIR_CHECK(queue_.insert(job));
    keys_.emplace(job.key.id, job.key);
    arrived_.push_back(job.key.id);
    dirty_ = true;
    return Done{};
}

const PendingJob* Scheduler::waiting(JobId id) const {
    const auto place = keys_.find(id);
    return place == keys_.end() ? nullptr : queue_.find(place->second);
}

Scheduler Scheduler::head(std::size_t jobs) const {
    Scheduler out(policy_);
    out.space_ = space_;
    out.priority_bits_ = priority_bits_;
    out.first_moved_ = first_moved_;
    out.counters_ = counters_;
    queue_.walk([&](const PendingJob& job) {
        if (out.queue_.size() >= jobs) {
            return false;
        }
        WEIR_CHECK(out.queue_.insert(job));
        out.keys_.emplace(job.key.id, job.key);
        return true;
    });
    for (const JobId id : arrived_) {
        if (out.keys_.contains(id)) {
            out.arrived_.push_back(id);
        }
    }
    return out;
}

void Scheduler::forget(std::unordered_map<JobId, QueueKey>::iterator place) {
    space_.drop_set(queue_.find(place->second)->request.node_set);
    WEIR_CHECK(queue_.erase(place->second));
    if (announced_ == place->first) {
        announced_.reset();
    }
    keys_.erase(place);
}

bool Scheduler::cancel(JobId id) {
    const auto place = keys_.find(id);
    if (place == keys_.end()) {
        return false;
    }
    moved(place->second);
    forget(place);
    dirty_ = true;
    return true;
}

void Scheduler::prioritize(std::span<const std::pair<JobId, std::uint32_t>> priorities) {
    std::vector<QueueKey> before;
    for (const auto& [id, priority] : priorities) {
        if (const auto place = keys_.find(id); place != keys_.end()) {
            const QueueKey key = place->second;
            if (change(place->second, priority)) {
                before.push_back(key);
            }
        }
    }
    move_jobs(before);
}

void Scheduler::prioritize_all(const std::function<std::uint32_t(JobId)>& priority_of) {
    bool is_any = false;
    for (auto& [id, key] : keys_) {
        is_any = change(key, priority_of(id)) || is_any;
    }
    if (is_any) {
        sort();
    }
}

bool Scheduler::change(QueueKey& key, std::uint32_t priority) {
    if (key.priority == priority) {
        return false;
    }
    moved(key);
    if (key.priority == priority_held) {
        arrived_.push_back(key.id);  // not considered yet
    }
    key.priority = priority;
    moved(key);
    dirty_ = true;
    return true;
}

void Scheduler::sort() {
    queue_.rekey([this](PendingJob& job) { job.key = keys_.at(job.key.id); });
}

void Scheduler::move_jobs(const std::vector<QueueKey>& before) {
    if (before.size() > queue_.size() / sorted_anew_from) {
        sort();
        return;
    }
    for (const QueueKey& key : before) {
        if (const PendingJob* known = queue_.find(key)) {  // else it was named twice
            PendingJob job = *known;
            WEIR_CHECK(queue_.erase(key));
            job.key = keys_.at(key.id);
            WEIR_CHECK(queue_.insert(job));
        }
    }
}

Status Scheduler::free(JobId id, const ResourceSet& part, bool final) {
    auto done = space_.release(id, part, final);
    dirty_ = dirty_ || done.has_value();
    return done;
}

bool Scheduler::set_end(JobId id, Instant end) {
    const bool known = space_.set_end(id, end);
    dirty_ = dirty_ || known;
    return known;
}

void Scheduler::announce(const PendingJob& head, const Blocked& blocked, Effects& effects) {
    std::string reason = "next to start: waits for " + words_of(head.request) +
                         (space_.may_ever_start(head) ? "" : "; too many nodes are drained or down");
    const bool same =
        announced_ == head.key.id && announced_estimate_ == blocked.estimate && announced_reason_ == reason;
    if (same) {
        return;
    }
    if (announced_ && *announced_ != head.key.id) {
        effects.cleared.push_back(*announced_);
    }
    first_estimate_ = announced_ == head.key.id && first_estimate_ ? first_estimate_ : blocked.estimate;
    announced_ = head.key.id;
    announced_estimate_ = blocked.estimate;
    announced_reason_ = reason;
    effects.annotations.push_back({head.key.id, blocked.estimate, std::move(reason)});
}

std::vector<QueueKey> Scheduler::arrived_keys() const {
    std::vector<QueueKey> arrived;
    for (const JobId id : arrived_) {
        if (const auto place = keys_.find(id); place != keys_.end()) {
            arrived.push_back(place->second);
        }
    }
    std::sort(arrived.begin(), arrived.end());
    arrived.erase(std::unique(arrived.begin(), arrived.end()), arrived.end());
    return arrived;
}

void Scheduler::count_estimate(const Start& begun) {
    if (announced_ == begun.id && first_estimate_) {
        const Duration late = begun.start - *first_estimate_;
        counters_.estimated += 1;
        counters_.estimate_error += late < Duration{} ? -late : late;
        first_estimate_.reset();
    }
}

Scheduler::Effects Scheduler::pass(Instant now) {
    struct Sink {
        Scheduler& self;
        Instant now;
        Effects& effects;
        std::optional<std::pair<PendingJob, Blocked>> head;
        std::uint32_t blocked_min() const { return 1; }
        void started(const PendingJob& job, ResourceSpace::Taken taken) {
            effects.started.push_back({job.key.id, std::move(taken.resources), now, taken.end});
        }
        void blocked(const PendingJob& job, const Blocked& why) {
            if (!head) {
                head.emplace(job, Blocked{why.estimate ? self.space_.expected_start(*why.estimate) : std::nullopt});
            }
        }
    };
    Effects effects;
    Sink sink{*this, now, effects, {}};
    const std::vector<QueueKey> arrived = arrived_keys();
    const News news{arrived, first_moved_};
    const std::uint64_t before = queue_.considered();
    const auto decide = [&](auto policy) {
        if constexpr (requires { policy.reserve_above; }) {
            const std::uint64_t scaled = std::uint64_t{policy.reserve_above} << priority_bits_;
            policy.reserve_above = static_cast<std::uint32_t>(std::min<std::uint64_t>(scaled, priority_max));
        }
        policy.pass(queue_, space_, news, now, sink);
    };
    std::visit(decide, policy_);
    counters_.considered += queue_.considered() - before;
    arrived_.clear();
    first_moved_.reset();
    std::vector<QueueKey> begun;
    for (const Start& start : effects.started) {
        count_estimate(start);
        const auto place = keys_.find(start.id);
        begun.push_back(place->second);
        forget(place);
    }
    // A pass that continues where the last one stopped reports only jobs behind the head.
    if (sink.head && queue_.front().key == sink.head->first.key) {
        announce(sink.head->first, sink.head->second, effects);
    }
    counters_.backfilled += static_cast<std::uint64_t>(std::count_if(
        begun.begin(), begun.end(), [&](const QueueKey& key) { return !queue_.empty() && queue_.front().key < key; }));
    counters_.passes++;
    counters_.started += effects.started.size();
    dirty_ = false;
    due_ = std::holds_alternative<KeptReservations>(policy_) ? space_.reservations().first : never;
    return effects;
}

}  // namespace weir
