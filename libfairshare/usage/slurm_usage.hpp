// SPDX-License-Identifier: LGPL-3.0-only
// Owns: usage as slurmctld counts it: decayed and charged in passes, by 1 - 0.693/half-life a second.
// Must not know: jobs, files. It is for sites that compare with a Slurm or migrate from one. All others use
// usage_ledger.hpp, which is exact and needs no passes. Source: priority/multifactor of Slurm 22.05.8 and 26.11 as run.
#pragma once
#include <vector>

#include "libfairshare/base/time.hpp"
#include "libfairshare/tree/share_tree.hpp"
#include "libfairshare/usage/usage.hpp"

namespace weir {

class SlurmDecay {
  public:
    /// half_life: whole seconds, 0: nothing decays.
    explicit SlurmDecay(Duration half_life);

    /// The decay factor of a second: 1 - 0.693/half-life, not 2^(-1/half-life). After one half-life it gives 0.50004 to
    /// 0.50008.
    double per_second() const { return per_second_; }
    /// The decay factor of `elapsed`: in (0, 1], never below the smallest normal double.
    double after(Duration elapsed) const;
    /// The usage that `cost` a second adds over `elapsed`. It is discounted as if all had been used at the beginning,
    /// so the sum depends on how often passes run.
    double charge(Duration elapsed, double cost) const;

  private:
    double per_second_ = 1.0;
};

/// The usage of every node, in long doubles as slurmctld has it. An account's is what was added below it.
class SlurmUsage {
  public:
    /// The tree must outlive this.
    SlurmUsage(const ShareTree& tree, SlurmDecay decay) : tree_(&tree), decay_(decay) {
        usage_.assign(tree.size(), 0.0L);
        left_.assign(tree.size(), 0.0L);
    }

    /// The beginning of a pass: all usage decays by `elapsed`. O(size).
    void decay(Duration elapsed);
    /// One job's slice of a pass. O(depth).
    void charge(NodeId leaf, Duration elapsed, double cost) { add(leaf, decay_.charge(elapsed, cost)); }
    /// Adds usage from another source; negative usage corrects. O(depth).
    void add(NodeId node, long double usage);
    /// RawUsage=0: what the node used is taken from it, from all below it and from all above. O(size).
    void reset(NodeId node);

    /// Changes the tree, which must outlive this. Usage moves with moved nodes (match_nodes()). Usage of a removed node
    /// stays with the nearest remaining account above it, which then has more than its children. O(n log n).
    void rebind(const ShareTree& tree);
    /// Later passes use it.
    void set_decay(SlurmDecay decay) { decay_ = decay; }

    long double usage(NodeId id) const { return usage_[id.value]; }
    /// For the algorithms: leaves, and what removed nodes left, x `scale`, cut to whole numbers, accounts summed; the
    /// larger the scale, the less is cut. REQUIRES: sums stay below usage_max. O(size).
    std::vector<CoreMicros> snapshot(long double scale) const;

  private:
    const ShareTree* tree_;
    SlurmDecay decay_;
    std::vector<long double> usage_;
    std::vector<long double> left_;  // an account's own part: what removed nodes left
};

}  // namespace weir
