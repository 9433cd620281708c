// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the factor of one association without everybody's, under any algorithm: what a job's start or end asks for.
// Must not know: decay, who charged. ADR 0084.
#pragma once
#include <variant>
#include <vector>

#include "libfairshare/algorithms/algorithm.hpp"
#include "libfairshare/algorithms/deserved_shares.hpp"
#include "libfairshare/algorithms/fair_tree_ranks.hpp"

namespace weir {

/// Keeps no factor that could grow old: after a charge add_usage() or changed() write one path, and every factor asked
/// for is at once, bit for bit, that of evaluate(). Algorithms whose factor is a number of its own look at the path
/// (depth-oblivious, targets and the Fair Trees at the siblings along it too).
class OneFactor {
  public:
    /// The tree must outlive this. Demand and capacity are those of `measures` for good. O(size).
    OneFactor(const Algorithm& algorithm, const ShareTree& tree, const Measures& measures);

    /// The leaf's dynamic use is now that of `measures`. O(depth).
    void changed(const Measures& measures, NodeId leaf);
    /// REQUIRES: leaf is an association; the tree's and measures' nodes are those given at first. O(path x siblings).
    double factor(const Measures& measures, NodeId leaf) const;

  private:
    struct Plain {};  // the node's own standing has it
    struct Ranked {
        FairTreeRanks ranks;
    };
    struct AsSlurm {
        std::vector<std::uint32_t> associations;
    };
    struct Demanded {
        FairTreeRanks ranks;
        DeservedShares deserved;
    };
    struct Dynamic {
        FairTreeRanks ranks;
        std::vector<CoreMicros> parts;     // of each leaf, summed upwards
        std::vector<CoreMicros> divisors;  // of these
    };

    Algorithm algorithm_;
    const ShareTree* tree_;
    std::variant<Plain, Ranked, AsSlurm, Demanded, Dynamic> state_;
};

}  // namespace weir
