// SPDX-License-Identifier: LGPL-3.0-only
// Owns: one instance's scheduling state: the queue, the resources, the policy. It takes events (alloc, free, cancel,
// new priorities, nodes up and down), and pass() returns what starts where and what the head waits for. Must not know
// messages, JSON, KVS or a clock. RFC 27, of which modules/sched is the wire.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "libsched/policy/policy.hpp"
#include "libsched/resource/constraint.hpp"
#include "libsched/resource/resource_space.hpp"

namespace weir {

class Scheduler {
  public:
    struct Start {
        JobId id;
        ResourceSet resources;
        Instant start;
        Instant end;  ///< believed: start + limit; without a limit the instance's own end, else see expected()
    };
    /// A new annotation for the head job.
    struct Annotation {
        JobId id;
        std::optional<Instant> estimate;  ///< its estimated start; none: unknown
        std::string reason;               ///< why it waits
    };
    struct Effects {
        std::vector<Start> started;
        std::vector<Annotation> annotations;
        /// The reservation of a job that is no longer the head was withdrawn: its estimate no longer holds.
        std::vector<JobId> cleared;
    };
    struct Counters {
        std::uint64_t passes = 0;
        std::uint64_t considered = 0;  ///< jobs looked at by passes
        std::uint64_t started = 0;
        std::uint64_t backfilled = 0;  ///< started while a job before them waited
        std::uint64_t estimated = 0;   ///< started after they had been told an estimated start
        Duration estimate_error{};     ///< of these, from their first estimate to their start, early or late
    };

    explicit Scheduler(Policy policy) : policy_(policy) {}
    const Policy& policy() const { return policy_; }

    /// Sets the machine, before anything else. All of it is free.
    void set_resources(const ResourceSet& all, const IdSet& up, NodeNames names = {},
                       NodeChoice choice = NodeChoice::first);
    void set_up(const IdSet& ranks, bool up);
    /// Removes nodes. Returns the waiting jobs that can never run without them, which are removed, too, each with the
    /// sentence for its user. O(jobs).
    std::vector<std::pair<JobId, Error>> shrink(const IdSet& ranks);
    /// The end of the instance itself: plans expect no job to run longer. A job that has a limit keeps it: the instance
    /// may be extended. `never`: none.
    void set_instance_end(Instant end);

    /// A job that runs already (RFC 27 hello).
    Status hello(JobId id, ResourceSet resources, Instant end);
    /// Frees the resources of each job of hello() that is not among `running`, the jobs that a second hello after ready
    /// named. Such a job released its resources before ready, and RFC 27 has no message for that. O(jobs of hello()).
    void confirm_hello(const std::unordered_set<JobId>& running);
    /// Adds a pending job. Error: it can never run here (the sentence is for its user), or its id is known.
    Status alloc(PendingJob job, const Constraint& constraint = {});
    /// Removes a pending job; false if it is not pending.
    bool cancel(JobId id);
    /// Priorities of jobs are in units of 2^-bits from here on; those of the policy's arguments are whole.
    void set_priority_bits(int bits) { priority_bits_ = bits; }
    /// New priorities of waiting jobs; ids that do not wait are ignored. O(these x log jobs), or O(jobs) where many
    /// move.
    void prioritize(std::span<const std::pair<JobId, std::uint32_t>> priorities);
    /// The same for every waiting job. O(jobs) where their order stays, else O(jobs x log jobs).
    void prioritize_all(const std::function<std::uint32_t(JobId)>& priority_of);
    Status free(JobId id, const ResourceSet& part, bool final);
    /// A running job's new end; false when it does not run.
    bool set_end(JobId id, Instant end);
    Status feasible(const Request& request, const Constraint& constraint = {});
    /// A measurement of a node (NodeChoice::least_loaded).
    void set_load(std::uint32_t rank, const NodeLoad& load) { space_.set_load(rank, load); }

    /// Whether anything happened since the last pass that could let a job start.
    bool wants_pass() const { return dirty_; }
    /// When the first kept reservation is due: a pass then, if there was none, gives the job another place should it
    /// not start. `never` without one.
    Instant due() const { return due_; }
    void set_due() { dirty_ = true; }
    /// Lets the policy decide at `now`. What starts leaves the queue and holds its resources when this returns.
    Effects pass(Instant now);

    std::size_t pending() const { return queue_.size(); }
    /// None when it does not wait; good until the next change.
    const PendingJob* waiting(JobId id) const;
    /// A copy in which only the first `jobs` of the queue wait. O(jobs + jobs that run + nodes), not O(queue).
    Scheduler head(std::size_t jobs) const;
    const ResourceSpace& space() const { return space_; }
    const Counters& counters() const { return counters_; }
    /// The waiting jobs in order, until visit(job) returns false.
    template <typename Visit>
    void walk(Visit&& visit) const {
        queue_.walk(visit);
    }

  private:
    /// The number of the set of nodes that satisfy it; 0: all. The caller drops it.
    std::uint32_t keep_set(const Constraint& constraint);
    /// Out of the queue.
    void forget(std::unordered_map<JobId, QueueKey>::iterator place);
    void moved(const QueueKey& key) { first_moved_ = first_moved_ ? std::min(*first_moved_, key) : key; }
    /// Changes a pending job's entry in keys_; false if it has that priority already. Call move_jobs() or sort()
    /// afterwards: until then its place in the queue is the old one.
    bool change(QueueKey& key, std::uint32_t priority);
    void sort();
    /// Moves jobs to their new places. `before` has the old keys of the jobs whose entry in keys_ changed.
    void move_jobs(const std::vector<QueueKey>& before);
    /// The places of the jobs that arrived since the last pass and still wait, in order.
    std::vector<QueueKey> arrived_keys() const;
    void announce(const PendingJob& head, const Blocked& blocked, Effects& effects);
    /// Counts how far the first estimate of an announced job was off.
    void count_estimate(const Start& begun);

    Policy policy_;
    JobQueue<PendingJob> queue_;
    std::vector<JobId> arrived_;                ///< since the last pass
    std::optional<QueueKey> first_moved_;       ///< News::first_moved
    std::unordered_map<JobId, QueueKey> keys_;  ///< of every job in queue_
    ResourceSpace space_;
    std::vector<JobId> greeted_;  ///< jobs of hello() until confirm_hello()
    NodeNames names_;
    int priority_bits_ = 0;
    bool dirty_ = false;
    Instant due_ = never;
    std::optional<JobId> announced_;  ///< the job whose annotation stands
    std::optional<Instant> announced_estimate_;
    std::string announced_reason_;
    std::optional<Instant> first_estimate_;  ///< of the announced job
    Counters counters_;
};

}  // namespace weir
