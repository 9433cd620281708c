// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see fair_tree.hpp.
#include "libfairshare/algorithms/fair_tree.hpp"

#include "libfairshare/algorithms/fair_tree_walk.hpp"

namespace weir {

namespace {

using U128 = unsigned __int128;

struct U256 {
    U128 high;
    U128 low;
    friend auto operator<=>(const U256&, const U256&) = default;
};

U256 multiply(U128 a, U128 b) {
    const U128 mask = ~std::uint64_t{0};
    const U128 low = (a & mask) * (b & mask);
    const U128 cross = (a >> 64) * (b & mask) + (low >> 64);
    const U128 other = (a & mask) * (b >> 64) + (cross & mask);
    return {(a >> 64) * (b >> 64) + (cross >> 64) + (other >> 64), (other << 64) | (low & mask)};
}

enum class LevelClass : std::uint8_t { none, finite, infinite };

LevelClass class_of(const LevelFs& level) {
    if (level.shares == 0) {
        return LevelClass::none;
    }
    return level.usage == 0 ? LevelClass::infinite : LevelClass::finite;
}

/// The tree's own.
struct TreeShares {
    const ShareTree& tree;
    std::uint64_t of(NodeId id) const { return tree.shares(id); }
    std::uint64_t sum(NodeId level_parent) const { return tree.child_shares(level_parent); }
};

}  // namespace

std::weak_ordering compare(const LevelFs& a, const LevelFs& b) {
    const LevelClass class_a = class_of(a);
    const LevelClass class_b = class_of(b);
    if (class_a != class_b || class_a != LevelClass::finite) {
        return class_a <=> class_b;
    }
    // a.shares * a.parent_usage / (a.sibling_shares * a.usage) against the same of b, multiplied out: 128 x 128 bits.
    const U256 left = multiply(a.shares * a.parent_usage, b.sibling_shares * b.usage);
    const U256 right = multiply(b.shares * b.parent_usage, a.sibling_shares * a.usage);
    return left <=> right;
}

void FairTree::evaluate(const ShareTree& tree, const Measures& measures, Standings& into) const {
    FairTreeWalk{tree, TreeShares{tree}, measures.usage, *this, into}.run();
}

NodeStanding FairTree::node_standing(const ShareTree& tree, const Measures& measures, NodeId id) const {
    const auto usage = measures.usage;
    const auto part = [&](NodeId of) {
        const CoreMicros whole = usage[of.value];
        return whole == 0 ? 0.0 : usage_as_double(usage[id.value]) / usage_as_double(whole);
    };
    NodeStanding standing;
    standing.norm_shares = tree.norm_shares(id);
    standing.norm_usage = part(root_node);
    standing.effective_usage = id == root_node ? standing.norm_usage : part(tree.level_parent(id));
    if (tree.shares_parent(id)) {
        return standing;
    }
    if (standing.norm_shares == 0) {
        standing.level_fs = 0.0;
    } else if (usage[id.value] != 0) {
        standing.level_fs = standing.norm_shares / standing.effective_usage;
    }
    return standing;
}

}  // namespace weir
