// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which waiting jobs may start as far as the share tree's limits go: each is held back until every limit on its
// path has room for it, and from then on counts as running. Must not know resources or why a priority is what it is.
// So no limit is passed however late a start is told.
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
    /// Earlier is before; ties go to the lower id.
    using PriorityOf = std::function<std::uint64_t(Id)>;

    /// A job that is there but not ready to start (held, or waiting for others). It counts as active.
    void park(const ShareTree& tree, Id id, NodeId payer, const LimitedJob& job);
    /// A job that is ready to start.
    void wait(const ShareTree& tree, Id id, NodeId payer, const LimitedJob& job);
    /// A job that has resources, whether it was let in or not; `job`: what it got.
    void start(const ShareTree& tree, Id id, NodeId payer, const LimitedJob& job);
    /// Whoever counted before had let this waiting job in: it may be starting. It goes before all others, within the
    /// hard limits; one whose payer or size changes keeps its place by itself.
    void keep_place(Id id);
    void remove(const ShareTree& tree, Id id);
    void clear();

    /// Lets in, in order of priority, first who keeps a place, then every waiting job that its soft limits have room
    /// for; where nobody else waits who is let in, those within the hard limits, too. Returns who is let in. Looks only
    /// at jobs that came or changed, and at those whose limit has room again: O(k x (depth + log jobs)), k of them;
    /// besides that one look a limit of usage that holds somebody back.
    std::vector<Id> let_in(const ShareTree& tree, const UsageLedger& ledger, Instant now,
                           const PriorityOf& priority_of);
    /// Whose is_held_back() may be another than at the let_in() before the last. In no order, an id may come twice.
    const std::vector<Id>& changed() const { return changed_; }

    /// Whether the job is held back; false for jobs that are not here.
    bool is_held_back(Id id) const;
    /// Whether it was let in and has not started.
    bool is_let_in(Id id) const;
    /// All of them.
    std::vector<Id> places() const;
    /// A limit that holds it back, with what counts against it now; nothing when nothing does.
    std::optional<LimitHit> hit(Id id) const;
    const LimitCounts& counts() const { return counts_; }
    std::size_t size() const { return jobs_.size(); }
    /// How many times a job was held against the limits of its path: what let_in() costs.
    std::uint64_t looks() const { return looks_; }

  private:
    enum class State : std::uint8_t { parked, waiting, let_in, running };
    struct Job {
        NodeId payer;
        LimitedJob size;
        State state = State::parked;
        std::optional<LimitHit> hit;
    };
    /// What many jobs may wait for alike. Counts fall when a job goes; usage falls with time, for all jobs at once.
    struct Cause {
        NodeId node;
        LimitKind kind;
        bool is_soft;
        auto operator<=>(const Cause&) const = default;
    };
    using Waiters = std::map<Cause, std::set<Id>>;
    struct Scene {  ///< what a decision depends on besides the jobs
        const ShareTree& tree;
        const UsageLedger& ledger;
        Instant now;
        const PriorityOf& priority_of;
    };

    void set(const ShareTree& tree, Id id, const Job& now);
    void count(const ShareTree& tree, const Job& job, bool more);
    /// The job no longer counts as running, or not as much: its limits may have room.
    void note_room(const ShareTree& tree, const Job& before);
    void block(Id id, Job& job, const LimitHit& hit);
    void unblock(Id id, Job& job);
    std::optional<LimitHit> hit_at_start(const Scene& scene, const Job& job, LimitRule rule);
    /// Those whom nothing known holds back any more.
    std::set<Id> take_due(const Scene& scene);
    void take_due_of_usage(const Scene& scene, std::set<Id>& due);
    /// Those whom a soft limit holds back, and besides whom nobody waits who is let in.
    std::set<Id> alone() const;
    void let_in(const Scene& scene, const std::set<Id>& ids, LimitRule rule, bool only_alone, std::vector<Id>& in);
    bool do_others_wait(NodeId payer) const;

    std::map<Id, Job> jobs_;
    std::map<std::uint32_t, std::uint64_t> let_in_;  ///< by payer: jobs let in that have not started
    std::set<Id> fresh_;                             ///< waiting, and not judged since they came or changed
    std::set<Id> kept_;                              ///< of these: who keeps a place
    Waiters by_count_;                               ///< held back by a limit of jobs, nodes or cores
    Waiters by_usage_;                               ///< held back by a limit of usage or charges
    std::map<NodeId, std::set<Id>> soft_;            ///< held back by a soft limit, by payer
    std::set<NodeId> roomier_;                       ///< nodes whose counts fell since the last let_in()
    std::vector<Id> touched_;                        ///< whose state changed since the last let_in()
    std::vector<Id> changed_;
    std::uint64_t looks_ = 0;
    LimitCounts counts_;
};

}  // namespace weir
