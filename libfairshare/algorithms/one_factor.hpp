// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the factor of one association, computed without all others, for any algorithm. The start or end of a job needs
// this. Must not know: decay, who charged.
#pragma once
#include <variant>
#include <vector>

#include "libfairshare/algorithms/algorithm.hpp"
#include "libfairshare/algorithms/deserved_shares.hpp"
#include "libfairshare/algorithms/fair_tree_ranks.hpp"

namespace weir {

/// It stores no factor that could become stale. After a charge add_usage() or changed() write one path, and every
/// factor read afterwards equals that of evaluate() bit for bit. Algorithms whose factor is not a rank read the path;
/// depth-oblivious, targets and the Fair Trees also read the siblings along it.
class OneFactor {
  public:
    /// The tree must outlive this. Demand and capacity are read from `measures` here only. O(size).
    OneFactor(const Algorithm& algorithm, const ShareTree& tree, const Measures& measures);

    /// The leaf's dynamic use is now that of `measures`. O(depth).
    void changed(const Measures& measures, NodeId leaf);
    /// REQUIRES: leaf is an association; the tree's and measures' nodes are those given at first. O(path x siblings).
    double factor(const Measures& measures, NodeId leaf) const;

  private:
    struct Plain {};  // the factor is part of the node's own standing
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
