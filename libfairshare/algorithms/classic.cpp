// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see classic.hpp.
#include "libfairshare/algorithms/classic.hpp"

#include <cmath>
#include <vector>

namespace weir {

namespace {

struct Level {
    double norm_shares = 1;
    double effective_usage = 1;
};

/// Depth-oblivious: how much of the local ratio counts, so that a rich level does not drown a poor one.
double local_weight(double ratio_above, double ratio_local) {
    if (ratio_above == 0 || ratio_local == 0 || (ratio_above - 1) * (ratio_local - 1) >= 0) {
        return 1.0;
    }
    const double distance = 5 * std::log(ratio_above);
    return 1 / (1 + distance * distance);
}

/// The level of each node from the one of its level_parent().
class Levels {
  public:
    Levels(const Classic& rule, const ShareTree& tree, std::span<const CoreMicros> usage)
        : rule_(rule), tree_(tree), usage_(usage) {}

    /// used_at_level: usage of all nodes with shares of their own and this level_parent(); depth-oblivious alone asks.
    template <typename UsedAtLevel>
    Level below(const Level& above, NodeId id, UsedAtLevel used_at_level) const {
        const NodeId level_parent = tree_.level_parent(id);
        const double used = part_of_all(usage_, id);
        if (tree_.shares_parent(id)) {
            return level_parent == root_node ? Level{above.norm_shares, used} : above;
        }
        const double among_siblings = tree_.norm_shares(id);
        const double norm_shares = above.norm_shares * among_siblings;
        if (level_parent == root_node) {
            return {norm_shares, used};
        }
        if (rule_.depth_oblivious) {
            const bool is_blank = norm_shares == 0 || above.norm_shares == 0 || above.effective_usage == 0 || used == 0;
            return {norm_shares, is_blank ? used : oblivious(above, norm_shares, used, used_at_level(level_parent))};
        }
        const double effective = tree_.child_shares(level_parent) == 0
                                     ? above.effective_usage
                                     : used + (above.effective_usage - used) * among_siblings;
        return {norm_shares, effective};
    }

    double factor(const Level& level) const {
        return level.norm_shares <= 0 ? 0.0 : std::exp2(-(level.effective_usage / level.norm_shares / rule_.dampening));
    }

  private:
    double oblivious(const Level& above, double norm_shares, double used, CoreMicros used_at_level) const {
        const double all = static_cast<double>(usage_[root_node.value]);
        const double ratio_above = above.effective_usage / above.norm_shares;
        const double ratio_siblings = static_cast<double>(used_at_level) / all / above.norm_shares;
        const double ratio_local = used / norm_shares / ratio_siblings;
        const double weight = local_weight(ratio_above, ratio_local);
        return ratio_above * (weight == 1 ? ratio_local : std::pow(ratio_local, weight)) * norm_shares;
    }

    const Classic& rule_;
    const ShareTree& tree_;
    std::span<const CoreMicros> usage_;
};

/// By level_parent(): the usage of the nodes that have shares of their own at its level.
std::vector<CoreMicros> used_at_levels(const ShareTree& tree, std::span<const CoreMicros> usage) {
    std::vector<CoreMicros> used(tree.size(), 0);
    for (std::uint32_t i = 1; i < tree.size(); ++i) {
        const NodeId id{i};
        if (!tree.shares_parent(id)) {
            used[tree.level_parent(id).value] += usage[i];
        }
    }
    return used;
}

CoreMicros used_at_level(const ShareTree& tree, std::span<const CoreMicros> usage, NodeId account) {
    CoreMicros used = 0;
    for (NodeId child : tree.children(account)) {
        used += !tree.shares_parent(child)    ? usage[child.value]
                : !tree.is_association(child) ? used_at_level(tree, usage, child)
                                              : 0;
    }
    return used;
}

}  // namespace

void Classic::evaluate(const ShareTree& tree, const Measures& measures, Standings& into) const {
    const auto usage = measures.usage;
    into.factor.assign(tree.size(), 0.0);
    const Levels rule{*this, tree, usage};
    const auto used_by_level = depth_oblivious ? used_at_levels(tree, usage) : std::vector<CoreMicros>{};
    const auto used_at = [&](NodeId account) { return used_by_level[account.value]; };
    std::vector<Level> levels(tree.size());
    for (std::uint32_t i = 1; i < tree.size(); ++i) {
        const NodeId id{i};
        levels[i] = rule.below(levels[tree.level_parent(id).value], id, used_at);
        if (tree.is_association(id)) {
            into.factor[i] = rule.factor(levels[i]);
        }
    }
    rank_by_factor(tree, into);
}

NodeStanding Classic::node_standing(const ShareTree& tree, const Measures& measures, NodeId id) const {
    const auto usage = measures.usage;
    const Levels rule{*this, tree, usage};
    const auto used_at = [&](NodeId account) { return used_at_level(tree, usage, account); };
    std::vector<NodeId> way;
    for (NodeId at = id; at != root_node; at = tree.level_parent(at)) {
        way.push_back(at);
    }
    Level level;
    for (auto at = way.rbegin(); at != way.rend(); ++at) {
        level = rule.below(level, *at, used_at);
    }
    NodeStanding standing{level.norm_shares, part_of_all(usage, id), level.effective_usage, std::nullopt,
                          rule.factor(level)};
    if (level.norm_shares == 0) {
        standing.level_fs = 0.0;
    } else if (level.effective_usage != 0) {
        standing.level_fs = level.norm_shares / level.effective_usage;
    }
    return standing;
}

}  // namespace weir
