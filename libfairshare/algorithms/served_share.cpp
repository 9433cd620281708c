// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see served_share.hpp.
#include "libfairshare/algorithms/served_share.hpp"

#include <vector>

#include "libfairshare/algorithms/fair_tree_ranks.hpp"

namespace weir {

namespace {

double factor_of(double entitled, double used) {
    return entitled <= 0 ? 0.0 : entitled / (entitled + used);
}

}  // namespace

void ServedShare::evaluate(const ShareTree& tree, const Measures& measures, Standings& into) const {
    into.factor.resize(tree.size());
    into.factor[0] = 0.0;
    std::vector<double> entitled(tree.parents_end(), 1.0);
    for (std::uint32_t i = 1; i < tree.size(); ++i) {
        const NodeId id{i};
        const NodeId above = tree.level_parent(id);
        const bool is_above = tree.shares_parent(id);
        const double own = entitled[above.value] * (is_above ? 1.0 : tree.norm_shares(id));
        into.factor[i] =
            tree.is_association(id) ? factor_of(own, part_of_all(measures.usage, is_above ? above : id)) : 0.0;
        if (i < entitled.size()) {
            entitled[i] = own;
        }
    }
    rank_by_factor(tree, into);
}

NodeStanding ServedShare::node_standing(const ShareTree& tree, const Measures& measures, NodeId id) const {
    const bool is_above = id != root_node && tree.shares_parent(id);
    NodeStanding standing;
    standing.norm_shares = 1.0;
    for (NodeId step : levels_to(tree, id)) {  // in evaluate()'s order, to the last bit
        standing.norm_shares *= tree.shares_parent(step) ? 1.0 : tree.norm_shares(step);
    }
    standing.norm_usage = part_of_all(measures.usage, id);
    standing.effective_usage = is_above ? part_of_all(measures.usage, tree.level_parent(id)) : standing.norm_usage;
    standing.factor = factor_of(standing.norm_shares, standing.effective_usage);
    if (standing.norm_shares == 0) {
        standing.level_fs = 0.0;
    } else if (standing.effective_usage != 0) {
        standing.level_fs = standing.norm_shares / standing.effective_usage;
    }
    return standing;
}

}  // namespace weir
