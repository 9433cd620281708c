// SPDX-License-Identifier: LGPL-3.0-only
// Owns: windowed usage: the usage in each of the last `depth` intervals, where older ones weigh less. Must not know:
// trees beyond their leaves' ids and the payers outside them, targets, storage. All numbers are integers, so the order
// of events changes no bit.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "libfairshare/base/result.hpp"
#include "libfairshare/base/time.hpp"
#include "libfairshare/tree/share_tree.hpp"
#include "libfairshare/usage/usage.hpp"
#include "libfairshare/usage/usage_ledger.hpp"

namespace weir {

/// Moab's and Maui's FSINTERVAL, FSDEPTH, FSDECAY. Windows begin at multiples of the interval since the epoch. Window 0
/// contains `now` and counts in `depth`; window i weighs factor^i.
struct WindowPolicy {
    Duration interval = std::chrono::hours{24};  ///< at least a second
    unsigned depth = 7;                          ///< 1 to depth_max
    double factor = 1.0;                         ///< 0 to 1; 0: the current window alone counts

    static constexpr unsigned depth_max = 64;
    /// Errors: EINVAL with what to change.
    Status validate() const;
    /// From the beginning of the oldest window that counts to the end of the current one.
    Duration span() const { return factor > 0 ? depth * interval : interval; }
    /// factor^i.
    double weight(unsigned window) const;
    friend bool operator==(const WindowPolicy&, const WindowPolicy&) = default;
};

/// The history of a leaf, of `unassociated` or of `idle` as plain numbers; `windows` newest first, the current one less
/// rate * its beginning.
struct WindowRow {
    NodeId payer;
    std::int64_t rate = 0;
    std::vector<WideInteger> windows;
    friend bool operator==(const WindowRow&, const WindowRow&) = default;
};

struct WindowState {
    WindowPolicy policy;
    std::int64_t current = 0;  ///< the current window's number
    std::vector<WindowRow> rows;
    friend bool operator==(const WindowState&, const WindowState&) = default;
};

/// Windowed usage of a tree's leaves, of `unassociated` and of `idle`, running jobs included. 16 bytes a leaf and
/// window and 24 a leaf.
class WindowLedger {
  public:
    /// `nodes`: the size of the tree. REQUIRES: policy.validate().
    WindowLedger(std::uint32_t nodes, const WindowPolicy& policy);

    /// A job that bills `rate` cores begins at `at`; see UsageLedger. Events may be dated in the past; time before the
    /// oldest window does not count. O(1) in the current window, else O(depth); O(leaves x depth) when one ends.
    void start(NodeId payer, std::int64_t rate, Instant at);
    void end(NodeId payer, std::int64_t rate, Instant at);
    void charge(NodeId payer, std::int64_t rate, Instant from, Instant to);
    /// Adds usage measured elsewhere, dated `at`; a negative amount corrects.
    void add(NodeId payer, SignedCoreMicros amount, Instant at);

    /// Running cores.
    std::int64_t rate(NodeId payer) const { return rates_[row_of(payer)]; }
    /// Sum of the windows times their weights, to nearest; not below 0. `now` should not precede the latest event.
    /// O(1) in the window of the latest event, else O(depth).
    CoreMicros usage(NodeId payer, Instant now) const;
    /// Of every node, leaves rounded, accounts summed. O(nodes) usage().
    void snapshot(const ShareTree& tree, Instant now, std::vector<CoreMicros>& into) const;

    /// Changes interval, depth or factor. The history stays: the usage of a window counts as evenly used over its time
    /// and is divided among the new windows to the last core-microsecond. Usage older than the new span is dropped.
    void set_policy(const WindowPolicy& policy, Instant at);
    const WindowPolicy& policy() const { return policy_; }

    /// Changes the tree: places[i] is the new id of node i. What a removed leaf has becomes that of `unassociated`.
    void rebind(std::span<const NodeId> places, std::uint32_t nodes);

    /// A tree that extends() the old one: ids stay. O(new leaves x depth).
    void extend(std::uint32_t nodes);

    WindowState save() const;
    /// Errors: as validate(); ERANGE for a payer that is none with `nodes`, a row of the wrong length, a window of
    /// 2^120 or more, or a rate of 2^50 or more.
    static Result<WindowLedger> restore(std::uint32_t nodes, const WindowState& state);
    std::size_t memory_bytes() const;

  private:
    /// The payers outside the tree come first.
    static constexpr std::uint32_t outside_rows = 2;
    static std::uint32_t row_of(NodeId payer) {
        return payer == unassociated ? 0 : payer == idle ? 1 : payer.value + outside_rows;
    }
    static NodeId payer_of(std::uint32_t row) {
        return row == 0 ? unassociated : row == 1 ? idle : NodeId{row - outside_rows};
    }
    std::int64_t number_of(Instant at) const;
    __int128 begin_of(std::int64_t window) const;
    void advance(Instant at);
    void post(NodeId payer, std::int64_t rate, Instant at);
    void sum_closed(std::uint32_t row);
    void sum_closed();
    /// REQUIRES: current_ - depth < window <= current_.
    __int128& held(std::uint32_t row, std::int64_t window);
    __int128 content(std::uint32_t row, std::int64_t window, std::int64_t now_window, Instant now) const;

    WindowPolicy policy_;
    std::vector<std::int64_t> weights_;  // factor^i in units of 2^-40
    std::int64_t current_ = 0;
    // By row: `depth` windows as a ring. A closed one holds what was used; the current one lacks rate * (now - begin).
    std::vector<__int128> windows_;
    std::vector<std::int64_t> rates_;
    std::vector<__int128> closed_;  // by row: its closed windows times their weights, as long as current_ is the latest
};

}  // namespace weir
