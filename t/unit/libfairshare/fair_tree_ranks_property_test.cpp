// SPDX-License-Identifier: LGPL-3.0-only
// One rank asked for after a charge is the rank of a full evaluation.
#include <catch2/catch.hpp>

#include "libfairshare/algorithms/algorithm.hpp"
#include "libfairshare/algorithms/fair_tree_ranks.hpp"
#include "libfairshare/algorithms/one_factor.hpp"
#include "t/unit/draws.hpp"
#include "t/unit/libfairshare/generators.hpp"

using namespace weir;
using namespace weir::testing;

namespace {

/// Some nodes share their parent's, so that levels reach over accounts.
ShareTree tree_with_parent_shares(const std::vector<RandomLine>& lines) {
    std::vector<NodeSpec> made;
    for (const RandomLine& line : lines) {
        made.push_back({line.path, std::nullopt, line.shares, {}});
        made.back().shares_parent = draw::in_range(0, 6) == 0;
    }
    return std::get<ShareTree>(build_share_tree(made));
}

}  // namespace

// Kills: tied accounts not merged (the list of the path's account alone); the rank of a tied user not handed down, or
// handed down past a higher sibling; accounts counted as one association; with users first, the rank handed down.
TEST_CASE("fair tree ranks: after any charge each is that of the full evaluation") {
    draw::property("equal to evaluate()", [] {
        const auto lines = random_lines();
        const ShareTree tree = tree_with_parent_shares(lines);
        const FairTree rule{draw::in_range(0, 2) == 0};
        auto usage = usage_of(tree, lines);
        const FairTreeRanks ranks{tree, rule};
        std::vector<NodeId> leaves;
        for (std::uint32_t i = 1; i < tree.size(); ++i) {
            if (tree.is_association(NodeId{i})) {
                leaves.push_back(NodeId{i});
            }
        }
        for (int charge = 0; charge < 3; ++charge) {
            const Standings all = evaluate(rule, tree, usage);
            for (NodeId leaf : leaves) {
                RC_ASSERT(ranks.rank(usage, leaf) == all.rank[leaf.value]);
            }
            if (!leaves.empty()) {
                const NodeId leaf = leaves[draw::in_range<std::size_t>(0, leaves.size())];
                add_usage(tree, leaf, static_cast<CoreMicros>(draw::in_range(1, 6)), usage);
            }
        }
    });
}

// Kills: as slurmctld ranks, a tie looked for at the leaf's own level alone, or handed on over an account that holds
// nobody; a divisor that is not brought up to date above the leaf; deserved shares of the tree instead of the demand's;
// a product taken in another order.
TEST_CASE("one factor: after any charge it is that of a full evaluation, under every algorithm") {
    draw::property("equal to evaluate()", [] {
        const auto lines = random_lines();
        const ShareTree tree = tree_with_parent_shares(lines);
        auto usage = usage_of(tree, lines);
        std::vector<DynamicUse> dynamic(tree.size());
        std::vector<std::uint64_t> demand(tree.size());
        std::vector<NodeId> leaves;
        for (std::uint32_t i = 1; i < tree.size(); ++i) {
            if (tree.is_association(NodeId{i})) {
                leaves.push_back(NodeId{i});
                demand[i] = draw::in_range<std::uint64_t>(0, 4);
            }
        }
        const Measures measures{.usage = usage, .dynamic = dynamic, .demand = demand, .capacity = 12};
        std::vector<OneFactor> kept;
        for (const AlgorithmEntry& entry : algorithms()) {
            kept.emplace_back(entry.algorithm, tree, measures);
        }
        for (int charge = 0; charge < 3 && !leaves.empty(); ++charge) {
            for (std::size_t i = 0; i < kept.size(); ++i) {
                const AlgorithmEntry& entry = algorithms()[i];
                const Standings all = evaluate(entry.algorithm, tree, measures);
                for (NodeId leaf : leaves) {
                    if (kept[i].factor(measures, leaf) != all.factor[leaf.value]) {
                        RC_FAIL(std::string{entry.name} + ": " + tree.path(leaf));
                    }
                }
            }
            const NodeId leaf = draw::element_of(leaves);
            add_usage(tree, leaf, static_cast<CoreMicros>(draw::in_range(1, 6)), usage);
            dynamic[leaf.value].job_slots += draw::in_range(1, 3);
            for (OneFactor& one : kept) {
                one.changed(measures, leaf);
            }
        }
    });
}
