// SPDX-License-Identifier: LGPL-3.0-only
// Owns: all charges of a share tree, decayed and in exact total, running jobs included. Must not know: jobs,
// algorithms, storage. An event costs one addition for each node on the path, and a read is a closed formula. All
// arithmetic is in integers, so the result does not depend on the order of the events.
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libfairshare/base/time.hpp"
#include "libfairshare/tree/share_tree.hpp"
#include "libfairshare/usage/decay.hpp"
#include "libfairshare/usage/usage.hpp"

namespace weir {

using ShareTreePtr = std::shared_ptr<const ShareTree>;

/// The payer of what a partition holds and no job uses: like `unassociated` a bucket outside every tree. It is nobody's
/// use.
inline constexpr NodeId idle{0xfffffffeU};
inline bool is_in_tree(NodeId payer) {
    return payer != unassociated && payer != idle;
}
/// The name of a payer in the state of a ledger: a leaf's path; empty for `unassociated`, "/idle" for `idle`.
std::string payer_path(const ShareTree& tree, NodeId payer);
/// The payer of that name; `unassociated` if it is no association of `tree`.
NodeId payer_at(const ShareTree& tree, const std::string& path);

/// Usage of every node at one instant, rounded once to whole core-microseconds. An account's is the sum of its
/// children's to the digit. Index: NodeId.
struct UsageSnapshot {
    Instant at{};
    std::vector<CoreMicros> usage;
    CoreMicros unassociated = 0;
    CoreMicros idle = 0;
};

/// The state of one payer as plain numbers; saving and restoring does not round.
struct PayerState {
    std::string path;      ///< payer_path()
    WideInteger weighted;  ///< in the frame's units: see decay.hpp
    WideInteger charged;   ///< exact total minus rate * time
    std::int64_t rate = 0;
    friend bool operator==(const PayerState&, const PayerState&) = default;
};

/// A ledger as plain numbers. Payers with nothing in them are left out.
struct LedgerState {
    Duration half_life{};
    std::int64_t frame = 0;
    std::vector<PayerState> payers;
    Instant since = Instant::min();  ///< the last reset: charges dated before it do not count
    friend bool operator==(const LedgerState&, const LedgerState&) = default;
};

class UsageLedger {
  public:
    /// half_life: 0 (no decay) or decay_half_life_min to decay_half_life_max.
    UsageLedger(ShareTreePtr tree, Duration half_life);

    /// A job that bills `rate` cores begins to be charged to `payer` (a leaf or `unassociated`) at `at`. Events may
    /// come in any order and be dated in the past: the result is the same bit for bit as long as no frame of eight
    /// half-lives ends between them, and to well below rate/1000 core-microseconds otherwise. REQUIRES: payer
    /// is_association(), `unassociated` or `idle`; sum of rates below 2^50. O(depth).
    void start(NodeId payer, std::int64_t rate, Instant at);
    /// The counterpart of start(): same payer, same rate.
    void end(NodeId payer, std::int64_t rate, Instant at);
    /// start() for one payer and end() for another, at the same time.
    void move(NodeId from, NodeId to, std::int64_t rate, Instant at);
    /// A whole job at once: start() and end() in one walk.
    void charge(NodeId payer, std::int64_t rate, Instant from, Instant to);
    /// Adds usage measured elsewhere, dated `at`; a negative amount corrects what was added at the same date.
    void add(NodeId payer, SignedCoreMicros amount, Instant at);

    /// Decayed usage of a node or a bucket at `now`, running jobs included; not below 0. `now` should not
    /// precede the latest event. O(1).
    CoreMicros usage(NodeId node, Instant now) const;
    /// For many reads at one instant: what depends on the instant alone is computed once. Valid until the ledger
    /// changes.
    class AtInstant {
      public:
        CoreMicros usage(NodeId node) const { return read(ledger_.cell(node), reading_); }

      private:
        friend class UsageLedger;
        AtInstant(const UsageLedger& ledger, Instant now) : ledger_(ledger), reading_(ledger.decay_.reading(now)) {}
        const UsageLedger& ledger_;
        DecayFrame::Reading reading_;
    };
    AtInstant at(Instant now) const { return {*this, now}; }
    /// Exact undecayed total, running jobs up to `now` included. O(1).
    SignedCoreMicros charged(NodeId node, Instant now) const;
    /// Cores running now. O(1).
    std::int64_t rate(NodeId node) const;
    /// usage() of every node, leaves rounded, accounts summed. O(size).
    UsageSnapshot snapshot(Instant now) const;
    /// The same, written into an existing snapshot to reuse its memory.
    void snapshot(Instant now, UsageSnapshot& into) const;

    const ShareTree& tree() const { return *tree_; }
    const ShareTreePtr& tree_ptr() const { return tree_; }
    Duration half_life() const { return decay_.half_life(); }

    /// Changes the tree: usage stays with its path and moves with moved nodes (match_nodes()). Usage of a removed leaf
    /// becomes `unassociated`, and returns if its path does; running jobs there are charged to `unassociated` from `at`
    /// on. So an account is always the sum of its children. Returns the new id of each old node (`unassociated`:
    /// removed), so that the caller can update its jobs.
    std::vector<NodeId> rebind(ShareTreePtr tree, Instant at);
    /// Takes a tree that extends() this one: ids stay. O(new leaves).
    void extend(ShareTreePtr tree);
    /// Changes the half-life. Usage at `at` stays the same, and decays with the new half-life from then on. O(size).
    void set_half_life(Duration half_life, Instant at);

    /// Forgets decayed usage up to `at`, as a calendar reset does (reset.hpp); charged() stays. Jobs run on, and events
    /// dated before `at` that come later count from `at`. REQUIRES: no event dated after `at` has come yet. O(size).
    void reset(Instant at);

    LedgerState save() const;
    /// What save() has of one payer; nothing if that is nothing. O(departed leaves) for `unassociated`, else O(depth).
    std::optional<PayerState> saved(NodeId payer) const;
    /// The frame that the numbers of save() are in. When it moves on, those of every payer change.
    std::int64_t frame() const { return decay_.frame(); }
    /// Errors: EINVAL for a half-life out of range or a payer twice, ERANGE for absurd numbers. A path that is no leaf
    /// of `tree` is treated as removed.
    static Result<UsageLedger> restore(ShareTreePtr tree, const LedgerState& state);

    /// Node cells written since construction: the benchmark's count.
    std::uint64_t touches() const { return touches_; }
    std::size_t memory_bytes() const;

  private:
    struct Cell {
        __int128 weighted = 0;  // decayed part in the frame's units: usage = (rate * weight(t) + weighted) * scale(t)
        __int128 charged = 0;   // total(t) = charged + rate * t
        std::int64_t rate = 0;
        void add(const Cell& other);
        void subtract(const Cell& other);
        bool is_empty() const { return weighted == 0 && charged == 0 && rate == 0; }
        PayerState saved_as(std::string path) const;
    };
    /// A cell with flags of the tree in its unused bytes, so that events and snapshots do not read the tree: most of
    /// their time is memory access.
    struct Node : Cell {
        std::uint32_t parent = 0;
        bool is_payer = false;
    };
    void append_nodes();
    Cell nobodys() const;
    void post(NodeId payer, const Cell& delta);
    __int128 weight(Instant at) const { return decay_.weight(at < since_ ? since_ : at); }
    void advance_frame(Instant at);
    void sum_accounts();
    void take_back_departed(NodeId first);
    static CoreMicros read(const Cell& cell, const DecayFrame::Reading& reading) {
        const __int128 weights = DecayFrame::shifted(cell.weighted, reading.frame_shift) + cell.rate * reading.weight;
        return std::min(DecayFrame::scaled(weights, reading), usage_max);
    }
    static bool is_in_range(const Cell& cell);
    const Cell& cell(NodeId node) const {
        return node == unassociated ? outside_ : node == idle ? idle_ : nodes_[node.value];
    }

    ShareTreePtr tree_;
    DecayFrame decay_;
    Instant since_ = Instant::min();
    std::vector<Node> nodes_;  // by NodeId; an account's is the sum of its children's, always
    Cell outside_;             // `unassociated`: owners without an association, and departed_
    Cell idle_;
    std::map<std::string, Cell> departed_;  // removed leaves by path, rate 0; contained in outside_
    std::uint64_t touches_ = 0;
};

}  // namespace weir
