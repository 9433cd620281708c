// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the counts against the limits of a share tree's nodes, and the limit that a job would exceed. Must not know
// queues, priorities or pending jobs; the caller says when a job is submitted, starts and ends.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libfairshare/tree/share_tree.hpp"
#include "libfairshare/usage/reset.hpp"
#include "libfairshare/usage/usage_ledger.hpp"

namespace weir {

/// The properties of a job that limits apply to.
struct LimitedJob {
    std::uint64_t nodes = 1;
    std::uint64_t cores = 1;
    Duration wall_time = Duration::max();  ///< its time limit; max: none, beyond every limit
    /// It was admitted where all usage and all waiting jobs are known: only hard limits of running jobs, nodes and
    /// cores are checked at its start here.
    bool is_admitted_above = false;
    friend bool operator==(const LimitedJob&, const LimitedJob&) = default;
};

/// The limit that a job would exceed.
struct LimitHit {
    NodeId node;
    LimitKind kind = LimitKind::running_jobs;
    std::uint64_t limit = 0;     ///< in the unit of its kind
    bool is_soft = false;        ///< may be exceeded where no other job waits
    std::uint64_t used = 0;      ///< before the job: jobs, nodes, cores; 0 for the other kinds
    std::uint64_t reserved = 0;  ///< of `used`: for admitted jobs that have not started
    friend bool operator==(const LimitHit&, const LimitHit&) = default;
};
/// What lowers usage by itself.
struct UsageRelief {
    bool decays = true;
    ResetPeriod reset = ResetPeriod::none;
};
/// "physics runs at most 10 jobs; 9 run, and 1 starts before it", "a job of physics/@bob runs at most 2h"
std::string words_of(const LimitHit& hit, const ShareTree& tree, const UsageRelief& relief);

/// Soft limits apply while other jobs wait, hard limits always.
enum class LimitRule : std::uint8_t { soft, hard };

inline constexpr CoreMicros micros_a_second = 1'000'000;  ///< of a core: limits of usage are in core-seconds

/// What limits of usage look at.
struct UsageThen {
    const ShareTree& tree;
    const UsageLedger& ledger;
    Instant now;
};

class LimitCounts {
  public:
    struct Use {
        std::uint64_t active_jobs = 0;
        std::uint64_t running_jobs = 0;
        std::uint64_t nodes = 0;
        std::uint64_t cores = 0;
        friend bool operator==(const Use&, const Use&) = default;
    };

    /// Pending and running jobs. Each add has its remove, with the same payer. `unassociated` has no limits. O(depth).
    void add_active(const ShareTree& tree, NodeId payer) { change(tree, payer, {1, 0, 0, 0}, true); }
    void remove_active(const ShareTree& tree, NodeId payer) { change(tree, payer, {1, 0, 0, 0}, false); }
    void add_running(const ShareTree& tree, NodeId payer, const LimitedJob& job);
    void remove_running(const ShareTree& tree, NodeId payer, const LimitedJob& job);
    /// Of a node and all below it. O(1).
    Use of(NodeId node) const { return node.value < use_.size() ? use_[node.value] : Use{}; }
    void clear() { use_.clear(); }

    // Each of these: the first limit from the payer up that the job would exceed, or nothing. O(depth).
    /// Limits that waiting cannot resolve: hard limits of wall time, nodes and cores below the job's own request.
    static std::optional<LimitHit> never(const ShareTree& tree, NodeId payer, const LimitedJob& job);
    /// A hard limit of running jobs, nodes or cores that the running jobs exceed already.
    std::optional<LimitHit> exceeded(const ShareTree& tree, NodeId payer) const;
    /// One more active job.
    std::optional<LimitHit> submission(const ShareTree& tree, NodeId payer) const;
    /// Its start then. A limit of usage is reached when usage is not below it.
    std::optional<LimitHit> start(const UsageThen& usage, NodeId payer, const LimitedJob& job, LimitRule rule) const;

  private:
    void change(const ShareTree& tree, NodeId payer, const Use& by, bool more);
    std::vector<Use> use_;  ///< by node
};

/// Whether any node has a limit. O(nodes).
bool has_limits(const ShareTree& tree);
/// Whether the payer or a node above it has a limit; `unassociated` has none. O(depth).
bool has_limits(const ShareTree& tree, NodeId payer);

}  // namespace weir
