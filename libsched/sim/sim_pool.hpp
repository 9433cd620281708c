// SPDX-License-Identifier: LGPL-3.0-only
// Owns: one queue and one scheduling policy over a space, as replays drive them: what arrived or changed since the last
// pass, and the passes. Must not know what makes jobs come, change and end, nor instances.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "libfairshare/base/check.hpp"
#include "libsched/policy/policy.hpp"
#include "libsched/resource/count_space.hpp"
#include "libsched/sim/sim_job.hpp"

namespace weir {

/// What is believed of a run time: the request alone. A job that runs longer is believed to end at any moment from then
/// on, as an instance believes it. Not even a job of no time at all may have its place taken: it counts as the shortest
/// there is.
inline Duration believed(const SimJob& job) {
    return std::clamp(job.limit, Duration{1}, limit_max);
}

/// A machine, or a partition of one, as a number of cores: the space of a SimPool.
struct SimCores : CountSpace {
    using Job = CountJob;
    explicit SimCores(std::int64_t cores) : CountSpace(cores) {}
    std::uint64_t free_cores() const { return static_cast<std::uint64_t>(free()); }
    static Job waiting(const QueueKey& key, const SimJob& job) { return {key, job.cores, believed(job)}; }
    void give_back(JobId, const SimJob& job, Instant start) { release(believed_end(start, believed(job)), job.cores); }
};

/// Space: SimCores, or one with the same functions.
template <typename Space>
class SimPool {
  public:
    using Job = typename Space::Job;
    /// (the key in force, the new priority).
    using Change = std::pair<QueueKey, std::uint32_t>;

    SimPool(Space space, const Policy& policy) : space_(std::move(space)), policy_(policy) {}

    bool empty() const { return queue_.empty(); }
    std::uint64_t free_cores() const { return space_.free_cores(); }
    /// Whether any job would start if it were first and nothing were reserved.
    bool could_start() const { return queue_.any_within(space_.free_cores()); }
    /// Jobs looked at by all passes.
    std::uint64_t considered() const { return queue_.considered(); }

    void submit(const QueueKey& key, const SimJob& job) {
        WEIR_CHECK(queue_.insert(Space::waiting(key, job)));
        arrived_.push_back(key);
    }
    /// A job that waits does so no more.
    void withdraw(const QueueKey& key) {
        WEIR_CHECK(queue_.erase(key));
        std::erase_if(arrived_, [&](const QueueKey& arrived) { return arrived.id == key.id; });
        note_moved(key);
    }
    /// What a job has held since `start` is free.
    void give_back(JobId id, const SimJob& job, Instant start) { space_.give_back(id, job, start); }

    /// Changes in this order. `priority_of(id)`: the priority of a waiting job behind all of them. Few changes are made
    /// one by one, many in one go over the queue.
    template <typename PriorityOf>
    void prioritize(const std::vector<Change>& changes, PriorityOf priority_of) {
        const bool one_by_one = changes.size() < queue_.size() / 16;
        for (const auto& [key, priority] : changes) {
            note_moved(key);
            if (key.priority == priority_held) {
                arrived_.push_back(key);  // not considered yet
            }
            const QueueKey now{priority, key.submit, key.id};
            if (one_by_one) {
                Job job = *queue_.find(key);
                WEIR_CHECK(queue_.erase(key));
                job.key = now;
                WEIR_CHECK(queue_.insert(job));
            }
            note_moved(now);
        }
        if (!one_by_one) {
            queue_.rekey([&](Job& job) { job.key.priority = priority_of(job.key.id); });
        }
        for (QueueKey& key : arrived_) {
            key.priority = priority_of(key.id);
        }
        std::sort(arrived_.begin(), arrived_.end());
        arrived_.erase(std::unique(arrived_.begin(), arrived_.end()), arrived_.end());
    }

    /// What starts now, in the order of the pass. It stays in the queue until the caller has called started().
    const std::vector<QueueKey>& pass(Instant now) {
        gone_.clear();
        std::visit(
            [&](const auto& policy) {
                policy.pass(queue_, space_, News{arrived_, first_moved_}, now, Collect{gone_});
            },
            policy_);
        arrived_.clear();
        first_moved_.reset();
        return gone_;
    }
    void started(const QueueKey& key) { WEIR_CHECK(queue_.erase(key)); }

  private:
    struct Collect {
        std::vector<QueueKey>& gone;
        void started(const Job& job, const typename Space::Taken&) { gone.push_back(job.key); }
        void blocked(const Job&, const Blocked&) {}
        std::uint32_t blocked_min() const { return 0; }
    };
    void note_moved(const QueueKey& key) { first_moved_ = first_moved_ ? std::min(*first_moved_, key) : key; }

    Space space_;
    const Policy& policy_;
    JobQueue<Job> queue_;
    std::vector<QueueKey> arrived_;  ///< since the last pass
    std::optional<QueueKey> first_moved_;
    std::vector<QueueKey> gone_;
};

}  // namespace weir
