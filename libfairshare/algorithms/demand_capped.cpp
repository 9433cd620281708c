// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see demand_capped.hpp.
#include "libfairshare/algorithms/demand_capped.hpp"

#include "libfairshare/algorithms/deserved_shares.hpp"
#include "libfairshare/algorithms/fair_tree_walk.hpp"

namespace weir {

namespace {

struct Deserved {
    DeservedShares shares;
    std::uint64_t of(NodeId id) const { return shares.amount[id.value]; }
    std::uint64_t sum(NodeId level_parent) const { return shares.level_sum[level_parent.value]; }
};

}  // namespace

void DemandCapped::evaluate(const ShareTree& tree, const Measures& measures, Standings& into) const {
    if (measures.demand.empty()) {
        FairTree{}.evaluate(tree, measures, into);
        return;
    }
    const Deserved deserved{deserved_shares(tree, measures.demand, measures.capacity)};
    FairTreeWalk{tree, deserved, measures.usage, FairTree{}, into}.run();
}

NodeStanding DemandCapped::node_standing(const ShareTree& tree, const Measures& measures, NodeId id) const {
    NodeStanding standing = FairTree{}.node_standing(tree, measures, id);
    if (measures.demand.empty() || id == root_node || tree.shares_parent(id)) {
        return standing;
    }
    const Deserved deserved{deserved_shares(tree, measures.demand, measures.capacity)};
    const std::uint64_t own = deserved.of(id);
    standing.norm_shares =
        own == 0 ? 0.0 : static_cast<double>(own) / static_cast<double>(deserved.sum(tree.level_parent(id)));
    standing.level_fs.reset();
    if (own == 0) {
        standing.level_fs = 0.0;
    } else if (standing.effective_usage != 0) {
        standing.level_fs = standing.norm_shares / standing.effective_usage;
    }
    return standing;
}

}  // namespace weir
