// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the one interface of all fair-share algorithms. Input: a tree and measures of its nodes. Output: ranks and
// factors. Must not know: jobs, decay, where usage comes from. A new algorithm is a file, an alternative of the variant
// and a row of the table here.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include "libfairshare/algorithms/classic.hpp"
#include "libfairshare/algorithms/demand_capped.hpp"
#include "libfairshare/algorithms/fair_tree.hpp"
#include "libfairshare/algorithms/fair_tree_as_slurm.hpp"
#include "libfairshare/algorithms/lsf.hpp"
#include "libfairshare/algorithms/measures.hpp"
#include "libfairshare/algorithms/moab.hpp"
#include "libfairshare/algorithms/served_share.hpp"
#include "libfairshare/algorithms/standings.hpp"
#include "libfairshare/base/result.hpp"

namespace weir {

using Algorithm = std::variant<FairTree, FairTreeAsSlurm, Classic, Lsf, Moab, ServedShare, DemandCapped>;

struct AlgorithmEntry {
    std::string_view name;
    Algorithm algorithm;
    std::string_view summary;
};

/// All algorithms with their names in the configuration. The first is the default.
std::span<const AlgorithmEntry> algorithms();
/// Errors: EINVAL with the nearest name and the list.
Result<Algorithm> algorithm_named(std::string_view name);

RanksBy ranks_by(const Algorithm& algorithm);

/// Factors and ranks of all associations. O(n log n) in the longest list of siblings.
Standings evaluate(const Algorithm& algorithm, const ShareTree& tree, const Measures& measures);
/// The same, written into an existing result to reuse its memory.
void evaluate(const Algorithm& algorithm, const ShareTree& tree, const Measures& measures, Standings& into);

/// The columns of `sshare -l` for one node under this algorithm. O(depth) for most algorithms, O(siblings x depth) at
/// worst.
NodeStanding node_standing(const Algorithm& algorithm, const ShareTree& tree, const Measures& measures, NodeId id);

// The same for algorithms that need usage only.
inline Standings evaluate(const Algorithm& algorithm, const ShareTree& tree, std::span<const CoreMicros> usage) {
    return evaluate(algorithm, tree, Measures{usage});
}
inline void evaluate(const Algorithm& algorithm, const ShareTree& tree, std::span<const CoreMicros> usage,
                     Standings& into) {
    evaluate(algorithm, tree, Measures{usage}, into);
}
inline NodeStanding node_standing(const Algorithm& algorithm, const ShareTree& tree, std::span<const CoreMicros> usage,
                                  NodeId id) {
    return node_standing(algorithm, tree, Measures{usage}, id);
}

}  // namespace weir
