// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which waiting jobs may start as far as the share tree's limits go: each is held back until every limit on its
// path has room for it, and from then on counts as running. Must not know resources or why a priority is what it is.
// So no limit is passed however late a start is told (ADR 0127).
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
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
    /// for; where nobody else waits who is let in, those within the hard limits, too. Returns who is let in. O(waiting
    /// x depth + k log k), k of them refused by no limit before.
    std::vector<Id> let_in(const ShareTree& tree, const UsageLedger& ledger, Instant now,
                           const PriorityOf& priority_of);

    /// Whether the job is held back; false for jobs that are not here.
    bool is_held_back(Id id) const;
    /// Whether it was let in and has not started.
    bool is_let_in(Id id) const;
    /// All of them.
    std::vector<Id> places() const;
    /// What holds it back, as of the last let_in(); nothing when nothing does.
    std::optional<LimitHit> hit(Id id) const;
    const LimitCounts& counts() const { return counts_; }
    std::size_t size() const { return jobs_.size(); }

  private:
    enum class State : std::uint8_t { parked, waiting, let_in, running };
    struct Job {
        NodeId payer;
        LimitedJob size;
        State state = State::parked;
        std::optional<LimitHit> hit;
        bool keeps_place = false;
    };
    /// In this order. kept: who keeps a place; soft: all; alone: within hard limits, where nobody else waits.
    enum class Turn : std::uint8_t { kept, soft, alone };
    bool is_due(const Job& job, Turn turn) const;
    void let_in(const ShareTree& tree, const UsageLedger& ledger, Instant now, const PriorityOf& priority_of, Turn turn,
                std::vector<Id>& in);
    void set(const ShareTree& tree, Id id, const Job& now);
    void count(const ShareTree& tree, const Job& job, bool more);
    bool do_others_wait(NodeId payer) const;

    std::map<Id, Job> jobs_;
    std::map<std::uint32_t, std::uint64_t> let_in_;  ///< by payer: jobs let in that have not started
    LimitCounts counts_;
};

}  // namespace weir
