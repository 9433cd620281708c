// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the admission of pending jobs by the limits of the share tree. A job is held back until every limit on its path
// allows it. From then on it is admitted and counts as running, so no limit is exceeded however late its start is
// reported. An admitted job that a change leaves without room is recalled, and counts until it is known not to have
// started. Must not know resources or how priorities are computed.
#pragma once
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "libfairshare/limits/limit_counts.hpp"

namespace weir {

class Admission {
  public:
    using Id = std::uint64_t;
    /// A greater priority comes first; ties go to the lower id.
    using PriorityOf = std::function<std::uint64_t(Id)>;

    /// A job that is not ready to start (held, or with open dependencies). It counts as active.
    void park(const ShareTree& tree, Id id, NodeId payer, const LimitedJob& job);
    /// The same for a job that the site, not its user, keeps from starting for now. If it was admitted it may be
    /// starting: it is recalled first. It becomes ready by wait().
    void pause(const ShareTree& tree, Id id, NodeId payer, const LimitedJob& job);
    /// A job that is ready to start.
    void wait(const ShareTree& tree, Id id, NodeId payer, const LimitedJob& job);
    /// A job that has resources; `job`: what it got. If it had no place, since its allocation crossed the news that it
    /// lost it, the admitted jobs whose limits it exceeds are examined again: those that do not fit are
    /// recalled. O(depth), and in that case O(jobs x depth).
    void start(const ShareTree& tree, Id id, NodeId payer, const LimitedJob& job);
    /// This pending job was admitted before a restart or a change of the tree, and may be starting. It is admitted
    /// before all others, within the hard limits; where these have no room, or it is paused, it is recalled. The same
    /// holds without this call for an admitted job whose payer or size changes.
    void keep_admitted(const ShareTree& tree, Id id);
    /// Recalled jobs for which has_withdrawn(id) holds wait like any other, or are parked: nobody can start them any
    /// more, and all earlier starts were reported.
    void settle(const ShareTree& tree, const std::function<bool(Id)>& has_withdrawn);
    bool can_settle(const std::function<bool(Id)>& has_withdrawn) const;
    void remove(const ShareTree& tree, Id id);
    void clear();

    /// Admits jobs in order of priority: first those of keep_admitted(), then every pending job within its soft limits;
    /// and where no admitted job of another user waits, also those within the hard limits. Returns the admitted jobs.
    /// It looks only at jobs that are new or changed, and at those whose limit allows more again: O(k x (depth + log
    /// jobs)) for k of them, and one look for each limit of usage that holds a job back.
    std::vector<Id> admit(const ShareTree& tree, const UsageLedger& ledger, Instant now, const PriorityOf& priority_of);
    /// When a limit of usage that holds jobs back allows one again if nothing happens but decay, and a reset at
    /// `reset`; nothing: never. Usage is read some 60 times for each such limit.
    std::optional<Instant> usage_allows(const ShareTree& tree, const UsageLedger& ledger, Instant now,
                                        std::optional<Instant> reset) const;
    /// Jobs whose is_held_back() may differ from that at the admit() before the last. In no order; an id may occur
    /// twice.
    const std::vector<Id>& changed() const { return changed_; }

    /// Whether the job may not start now: it waits for a limit, or is parked, and has no place when it becomes ready.
    /// False for jobs that are not here.
    bool is_held_back(Id id) const;
    /// Whether it was admitted and has not started.
    bool is_admitted(Id id) const;
    /// Whether a pending job was admitted and may be starting.
    bool has_place(Id id) const;
    bool is_running(Id id) const;
    /// All admitted and recalled jobs that have not started, as far as is known, with those of keep_admitted() that no
    /// admit() has looked at yet.
    std::vector<Id> admitted() const;
    /// A limit that holds it back, with the current count; nothing if none does.
    std::optional<LimitHit> hit(Id id) const;
    const LimitCounts& counts() const { return counts_; }
    /// The limit of active jobs that the job exceeds as a new one or, where it counts for another payer, with this
    /// payer from now on. The nodes above both count it once. O(depth + log jobs).
    std::optional<LimitHit> submission(const ShareTree& tree, Id id, NodeId payer);
    std::size_t size() const { return jobs_.size(); }
    /// How many times a job was compared with the limits of its path: the cost of admit().
    std::uint64_t looks() const { return looks_; }

  private:
    enum class State : std::uint8_t {
        parked,
        waiting,
        admitted,
        recalled,  ///< it was admitted and has no room, or is paused: it may not start, but may have started
        running,
    };
    static bool counts_as_running(State state) { return state >= State::admitted; }
    struct Job {
        NodeId payer;
        LimitedJob size;
        State state = State::parked;
        std::optional<LimitHit> hit{};
        bool is_paused = false;  ///< by pause(): it is parked, or will be when it is known not to have started
    };
    /// A limit that many jobs may wait for. Counts decrease when a job ends; usage decreases with time, for all jobs at
    /// once.
    struct Cause {
        NodeId node;
        LimitKind kind;
        bool is_soft;
        auto operator<=>(const Cause&) const = default;
    };
    using Waiters = std::map<Cause, std::set<Id>>;
    struct Scene {  ///< the inputs of a decision besides the jobs
        const ShareTree& tree;
        const UsageLedger& ledger;
        Instant now;
        const PriorityOf& priority_of;
    };

    void set(const ShareTree& tree, Id id, const Job& now);
    void count(const ShareTree& tree, const Job& job, bool more);
    /// The job no longer counts as running, or counts less: its limits may allow more.
    void note_freed(const ShareTree& tree, const Job& before);
    void block(Id id, Job& job, const LimitHit& hit);
    void unblock(Id id, Job& job);
    /// Admitted jobs whose limits are exceeded are examined again.
    void examine_again(const ShareTree& tree);
    /// A job of keep_admitted() for which there is no room, or that is paused.
    void recall(const ShareTree& tree, Id id);
    std::optional<LimitHit> hit_at_start(const Scene& scene, const Job& job, LimitRule rule);
    /// Jobs that no known limit holds back any more.
    std::set<Id> take_due(const Scene& scene);
    void take_due_of_usage(const Scene& scene, std::set<Id>& due);
    /// Jobs held back by a soft limit while no admitted job of another user waits.
    std::set<Id> alone() const;
    void admit(const Scene& scene, const std::set<Id>& ids, LimitRule rule, bool only_alone, std::vector<Id>& in);
    bool do_others_wait(NodeId payer) const;

    std::map<Id, Job> jobs_;
    std::map<std::uint32_t, std::uint64_t> admitted_;  ///< by payer: admitted jobs that have not started
    std::set<Id> fresh_;                               ///< pending, and not compared since they came or changed
    std::set<Id> kept_;                                ///< of these: those of keep_admitted()
    std::set<Id> recalled_;
    Waiters by_count_;                     ///< held back by a limit of jobs, nodes or cores
    Waiters by_usage_;                     ///< held back by a limit of usage or charges
    std::map<NodeId, std::set<Id>> soft_;  ///< held back by a soft limit, by payer
    std::set<NodeId> freed_;               ///< nodes whose counts fell since the last admit()
    std::vector<Id> touched_;              ///< whose state changed since the last admit()
    std::vector<Id> changed_;
    std::uint64_t looks_ = 0;
    LimitCounts counts_;
    LimitCounts reserved_;  ///< of counts_: places of jobs that have not started, as far as is known
};

}  // namespace weir
