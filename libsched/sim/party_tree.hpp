// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the competing parties of a replay, as a tree with shares, and the party of each job. Must not know where shares
// come from, nor what is measured.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "libsched/sim/sim_job.hpp"

namespace weir {

struct Party {
    std::string name;          ///< "user 7", "physics"
    std::uint32_t parent = 0;  ///< place in the tree, below the party's own; the root's is 0
    std::uint32_t shares = 1;  ///< against its siblings; 0: entitled to nothing
};

/// parties[0] is the root. A party with jobs has none below it.
struct PartyTree {
    std::vector<Party> parties{Party{}};
    std::vector<std::uint32_t> payer;  ///< of each job, in the order of the outcomes that are measured: a party
                                       ///< without children, never the root
    std::uint32_t compared_below = 0;  ///< the party whose children are compared with each other

    /// The root or, where all is below one account, the first party below it with several children that are entitled to
    /// something or pay for jobs. O(parties + payers).
    std::uint32_t first_fork() const;
    /// 1 for the root's children. O(parties).
    std::vector<std::uint32_t> depths() const;
    /// Fraction of the machine: shares among siblings, multiplied along the path; the root has 1. O(parties).
    std::vector<double> entitled() const;
};

/// One party a user number, in its order, all with one share; and the same by group number. Payers in the jobs' order.
/// O(n log n).
PartyTree parties_by_user(std::span<const SimJob> jobs);
PartyTree parties_by_group(std::span<const SimJob> jobs);

}  // namespace weir
