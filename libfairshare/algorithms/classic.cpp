// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see classic.hpp.
#include "libfairshare/algorithms/classic.hpp"

#include <cmath>
#include <vector>

#include "libfairshare/algorithms/fair_tree_ranks.hpp"

namespace weir {

namespace {

struct Level {
    double norm_shares = 1;
    double effective_usage = 1;
};

/// The values that the nodes of one level share, from the level of their level_parent().
struct Above {
    Level level;
    // Depth-oblivious:
    double ratio = 0;           // of usage to shares, above
    double ratio_siblings = 0;  // the same of the level's nodes together
    double local_weight = 0;    // weight of a node's own ratio on the other side of 1: a rich level must not
                                // drown a poor one
};

/// The level of each node from the one of its level_parent().
class Levels {
  public:
    Levels(const Classic& rule, const ShareTree& tree, std::span<const CoreMicros> usage)
        : rule_(rule), tree_(tree), usage_(usage) {}

    /// used: of all nodes with shares of their own and this level_parent(); depth-oblivious alone asks.
    Above above(const Level& level, CoreMicros used) const {
        Above made{level};
        if (rule_.depth_oblivious) {
            made.ratio = level.effective_usage / level.norm_shares;
            made.ratio_siblings = usage_as_double(used) / usage_as_double(usage_[root_node.value]) / level.norm_shares;
            const double distance = 5 * std::log(made.ratio);
            made.local_weight = 1 / (1 + distance * distance);
        }
        return made;
    }

    Level below(const Above& above, NodeId id) const {
        const NodeId level_parent = tree_.level_parent(id);
        const double used = part_of_all(usage_, id);
        if (tree_.shares_parent(id)) {
            return level_parent == root_node ? Level{above.level.norm_shares, used} : above.level;
        }
        const double among_siblings = tree_.norm_shares(id);
        const double norm_shares = above.level.norm_shares * among_siblings;
        if (level_parent == root_node) {
            return {norm_shares, used};
        }
        if (rule_.depth_oblivious) {
            const bool is_blank =
                norm_shares == 0 || above.level.norm_shares == 0 || above.level.effective_usage == 0 || used == 0;
            return {norm_shares, is_blank ? used : oblivious(above, norm_shares, used)};
        }
        const double effective = tree_.child_shares(level_parent) == 0
                                     ? above.level.effective_usage
                                     : used + (above.level.effective_usage - used) * among_siblings;
        return {norm_shares, effective};
    }

    double factor(const Level& level) const {
        return level.norm_shares <= 0 ? 0.0 : std::exp2(-(level.effective_usage / level.norm_shares / rule_.dampening));
    }

  private:
    static double oblivious(const Above& above, double norm_shares, double used) {
        const double local = used / norm_shares / above.ratio_siblings;
        const bool is_whole = above.local_weight == 1 || above.ratio == 0 || local == 0 ||
                              (above.ratio - 1) * (local - 1) >= 0;  // on one side
        return above.ratio * (is_whole ? local : std::pow(local, above.local_weight)) * norm_shares;
    }

    const Classic& rule_;
    const ShareTree& tree_;
    std::span<const CoreMicros> usage_;
};

/// Of all nodes that have shares of their own and this level_parent().
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
    const Levels rule{*this, tree, usage};
    const auto above = [&](NodeId id, const Level& level) {
        return rule.above(level, depth_oblivious ? used_at_level(tree, usage, id) : 0);
    };
    std::vector<Above> levels(tree.parents_end());
    levels[0] = above(root_node, {});
    into.factor.resize(tree.size());
    into.factor[0] = 0.0;
    for (std::uint32_t i = 1; i < tree.size(); ++i) {
        const NodeId id{i};
        const Level level = rule.below(levels[tree.level_parent(id).value], id);
        into.factor[i] = tree.is_association(id) ? rule.factor(level) : 0.0;
        if (i < levels.size() && !tree.shares_parent(id)) {
            levels[i] = above(id, level);
        }
    }
    rank_by_factor(tree, into);
}

NodeStanding Classic::node_standing(const ShareTree& tree, const Measures& measures, NodeId id) const {
    const auto usage = measures.usage;
    const Levels rule{*this, tree, usage};
    Level level;
    for (NodeId step : levels_to(tree, id)) {
        const CoreMicros used = depth_oblivious ? used_at_level(tree, usage, tree.level_parent(step)) : 0;
        level = rule.below(rule.above(level, used), step);
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
