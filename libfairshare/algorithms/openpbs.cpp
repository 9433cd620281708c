// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see openpbs.hpp.
#include "libfairshare/algorithms/openpbs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "libfairshare/algorithms/fair_tree.hpp"
#include "libfairshare/algorithms/fair_tree_walk.hpp"

namespace weir {

namespace {

/// The tree's own, but none below a node without a percentage of the tree.
struct SharesWithPercentage {
    const ShareTree& tree;
    std::vector<bool> has_percentage;

    explicit SharesWithPercentage(const ShareTree& of_tree) : tree(of_tree), has_percentage(of_tree.size(), true) {
        for (std::uint32_t i = 1; i < tree.size(); ++i) {
            has_percentage[i] = has_percentage[tree.parent(NodeId{i}).value] && tree.norm_shares(NodeId{i}) > 0;
        }
    }
    std::uint64_t of(NodeId id) const { return has_percentage[id.value] ? tree.shares(id) : 0; }
    std::uint64_t sum(NodeId level_parent) const { return tree.child_shares(level_parent); }
};

}  // namespace

CoreMicros OpenPbs::counted(const ShareTree& tree, std::span<const CoreMicros> usage, NodeId id) const {
    const CoreMicros used = usage[id.value];
    return std::min(tree.is_association(id) ? std::max(used, unit) : used + unit, usage_max);
}

void OpenPbs::evaluate(const ShareTree& tree, const Measures& measures, Standings& into) const {
    std::vector<CoreMicros> usage(tree.size());
    for (std::uint32_t i = 0; i < tree.size(); ++i) {
        usage[i] = counted(tree, measures.usage, NodeId{i});
    }
    const SharesWithPercentage shares{tree};
    FairTreeWalk{tree, shares, usage, FairTree{}, into}.run();
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
    bool has_percentage = true;  // either of the two
    for (std::size_t i = 0; i < std::min(path_a.size(), path_b.size()) && has_percentage; ++i) {
        const auto order = weir::compare(level(path_b[i]), level(path_a[i]));
        if (path_a[i] != path_b[i] && std::is_neq(order)) {
            return order;
        }
        has_percentage = tree.norm_shares(path_a[i]) > 0 || tree.norm_shares(path_b[i]) > 0;
    }
    return std::weak_ordering::equivalent;
}

}  // namespace weir
