// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see openpbs.hpp.
#include "libfairshare/algorithms/openpbs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "libfairshare/algorithms/fair_tree.hpp"

namespace weir {

CoreMicros OpenPbs::counted(const ShareTree& tree, std::span<const CoreMicros> usage, NodeId id) const {
    const CoreMicros used = usage[id.value];
    return std::min(tree.is_association(id) ? std::max(used, unit) : used + unit, usage_max);
}

void OpenPbs::evaluate(const ShareTree& tree, const Measures& measures, Standings& into) const {
    std::vector<CoreMicros> usage(tree.size());
    for (std::uint32_t i = 0; i < tree.size(); ++i) {
        usage[i] = counted(tree, measures.usage, NodeId{i});
    }
    FairTree{}.evaluate(tree, Measures{usage}, into);
}

NodeStanding OpenPbs::node_standing(const ShareTree& tree, const Measures& measures, NodeId id) const {
    const auto usage = [&](NodeId of) { return static_cast<double>(counted(tree, measures.usage, of)); };
    const double all = usage(root_node);
    NodeStanding standing;
    standing.norm_shares = 1;
    standing.norm_usage = usage(id) / all;
    for (const NodeId at : tree.lineage(id)) {
        const double part = tree.norm_shares(at);
        const double used = usage(at) / all;
        const bool is_top = tree.parent(at) == root_node;
        standing.effective_usage = is_top ? used : used + (standing.effective_usage - used) * part;
        standing.norm_shares *= part;
    }
    if (standing.norm_shares > 0) {
        standing.level_fs = standing.norm_shares / standing.effective_usage;
        standing.factor = std::exp2(-standing.effective_usage / standing.norm_shares);
    } else {
        standing.level_fs = 0.0;
        standing.factor = 0.0;
    }
    return standing;
}

double OpenPbs::usage_per_share(const ShareTree& tree, const Measures& measures, NodeId id) const {
    const double perc = id == root_node ? 1.0 : node_standing(tree, measures, id).norm_shares;
    const double units = usage_as_double(counted(tree, measures.usage, id)) / usage_as_double(unit);
    return perc > 0 ? units / perc : std::numeric_limits<double>::infinity();
}

/// Equal usage / percentage above makes the levels of two parents comparable, so that Fair Tree's level decides there,
/// too: it differs from usage / percentage of the whole tree by the same factor on both sides.
std::weak_ordering OpenPbs::compare(const ShareTree& tree, const Measures& measures, NodeId a, NodeId b) const {
    const auto level = [&](NodeId id) {
        const NodeId parent = tree.parent(id);
        return LevelFs{tree.shares(id), tree.child_shares(parent), counted(tree, measures.usage, id),
                       counted(tree, measures.usage, parent)};
    };
    const auto path_a = tree.lineage(a);
    const auto path_b = tree.lineage(b);
    for (std::size_t i = 0; i < std::min(path_a.size(), path_b.size()); ++i) {
        const auto order = weir::compare(level(path_b[i]), level(path_a[i]));
        if (path_a[i] != path_b[i] && std::is_neq(order)) {
            return order;
        }
    }
    return std::weak_ordering::equivalent;
}

}  // namespace weir
