// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see classic.hpp.
#include "libfairshare/algorithms/classic.hpp"

#include <array>
#include <cmath>
#include <utility>
#include <vector>

namespace weir {

namespace {

struct Level {
    double norm_shares = 1;
    double effective_usage = 1;
};

double part_of_all(std::span<const CoreMicros> usage, NodeId id) {
    const CoreMicros all = usage[root_node.value];
    return all == 0 ? 0.0 : static_cast<double>(usage[id.value]) / static_cast<double>(all);
}

Level below(const Level& above, const ShareTree& tree, std::span<const CoreMicros> usage, NodeId id) {
    const NodeId parent = tree.parent(id);
    const double among_siblings = tree.norm_shares(id);
    const double used = part_of_all(usage, id);
    double effective = used;
    if (parent != root_node) {
        effective = tree.child_shares(parent) == 0 ? above.effective_usage
                                                   : used + (above.effective_usage - used) * among_siblings;
    }
    return {above.norm_shares * among_siblings, effective};
}

double factor_of(const Level& level, double dampening) {
    return level.norm_shares <= 0 ? 0.0 : std::exp2(-(level.effective_usage / level.norm_shares / dampening));
}

/// (factor in units of 2^-32, id) by ascending factor: three passes of eleven bits.
void radix_sort(std::vector<std::pair<std::uint64_t, std::uint32_t>>& items) {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> other(items.size());
    for (unsigned shift = 0; shift < 33; shift += 11) {
        std::array<std::uint32_t, 2049> begin{};
        for (const auto& item : items) {
            ++begin[((item.first >> shift) & 2047) + 1];
        }
        for (std::size_t i = 1; i < begin.size(); ++i) {
            begin[i] += begin[i - 1];
        }
        for (const auto& item : items) {
            other[begin[(item.first >> shift) & 2047]++] = item;
        }
        items.swap(other);
    }
}

}  // namespace

void Classic::evaluate(const ShareTree& tree, const Measures& measures, Standings& into) const {
    const auto usage = measures.usage;
    into.factor.assign(tree.size(), 0.0);
    into.rank.assign(tree.size(), 0);
    std::vector<Level> levels(tree.size());
    std::vector<std::pair<std::uint64_t, std::uint32_t>> order;
    order.reserve(tree.association_count());
    for (std::uint32_t i = 1; i < tree.size(); ++i) {
        const NodeId id{i};
        levels[i] = below(levels[tree.parent(id).value], tree, usage, id);
        if (tree.kind(id) == NodeKind::user) {
            into.factor[i] = factor_of(levels[i], dampening);
            order.emplace_back(static_cast<std::uint64_t>(std::llround(into.factor[i] * 0x1p32)), i);
        }
    }
    radix_sort(order);
    for (std::size_t i = order.size(); i-- > 0;) {
        const bool is_tied = i + 1 < order.size() && order[i].first == order[i + 1].first;
        into.rank[order[i].second] = is_tied ? into.rank[order[i + 1].second] : static_cast<std::uint32_t>(i + 1);
    }
}

NodeStanding Classic::node_standing(const ShareTree& tree, const Measures& measures, NodeId id) const {
    const auto usage = measures.usage;
    std::vector<NodeId> way;
    for (NodeId at = id; at != root_node; at = tree.parent(at)) {
        way.push_back(at);
    }
    Level level;
    for (auto at = way.rbegin(); at != way.rend(); ++at) {
        level = below(level, tree, usage, *at);
    }
    NodeStanding standing{level.norm_shares, part_of_all(usage, id), level.effective_usage, std::nullopt};
    if (level.norm_shares == 0) {
        standing.level_fs = 0.0;
    } else if (level.effective_usage != 0) {
        standing.level_fs = level.norm_shares / level.effective_usage;
    }
    return standing;
}

}  // namespace weir
