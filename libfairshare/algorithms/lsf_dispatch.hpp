// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the order of dispatches under LSF's fairshare. Each dispatch lowers the priorities on its path.
// Must not know: whether a job fits, time. Source: LSF 10.1, hierarchical fairshare.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "libfairshare/algorithms/lsf.hpp"

namespace weir {

/// A pending job. Ties of priority, and jobs of one user, are sorted by `order` (FCFS: the place in the queue, unique).
struct LsfWaiting {
    NodeId leaf;
    std::uint64_t order = 0;
    std::uint32_t slots = 1;
    double committed_h = 0;  ///< run time limit times slots
    friend bool operator==(const LsfWaiting&, const LsfWaiting&) = default;
};

class LsfDispatch {
  public:
    /// The tree and factors must outlive it. `use` as in Measures; empty means no use.
    LsfDispatch(const ShareTree& tree, const LsfFactors& factors, std::span<const DynamicUse> use);

    /// O(depth * log siblings).
    void submit(const LsfWaiting& job);
    /// Takes the job of the best leaf: from the top, the sibling with the highest priority among those with a pending
    /// job, compared exactly. Then it charges the job's slots along the path, so that the next call has new priorities.
    /// A user of several accounts is several leaves, and the best one counts. O(depth * log siblings).
    std::optional<LsfWaiting> next();
    /// Of any node, now.
    double priority(NodeId id) const;

  private:
    struct Entry {
        CoreMicros divisor;
        std::uint32_t shares;
        std::uint64_t order;  // of the job that would be dispatched
        std::uint32_t id;
        /// Higher shares / divisor first; products stay below 2^112.
        friend bool operator<(const Entry& a, const Entry& b) {
            const CoreMicros left = a.shares * b.divisor;
            const CoreMicros right = b.shares * a.divisor;
            return left != right ? left > right : a.order != b.order ? a.order < b.order : a.id < b.id;
        }
    };
    Entry entry_of(std::uint32_t id) const;
    bool waits(std::uint32_t id) const { return !jobs_[id].empty() || !children_[id].empty(); }
    std::uint64_t head(std::uint32_t id) const;
    template <typename Change>
    void change_path(NodeId leaf, Change change);

    const ShareTree& tree_;
    const LsfFactors& factors_;
    std::vector<CoreMicros> divisors_;  // in units of lsf_divisor_min, by node
    struct ByOrder {
        bool operator()(const LsfWaiting& a, const LsfWaiting& b) const { return a.order < b.order; }
    };
    std::vector<std::set<LsfWaiting, ByOrder>> jobs_;  // by leaf
    std::vector<std::set<Entry>> children_;            // by account: children with a job waiting, the best first
};

}  // namespace weir
