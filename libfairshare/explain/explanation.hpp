// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the explanation of an association's rank, level by level and in words, and of which of two is ahead. Must not
// know: jobs, text formats, any single algorithm; it uses algorithms/algorithm.hpp.
#pragma once
#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "libfairshare/algorithms/algorithm.hpp"

namespace weir {

/// What is explained: the result of evaluate(), with its inputs. All outlive this.
struct EvaluatedTree {
    const Algorithm& algorithm;
    const ShareTree& tree;
    const Measures& measures;
    const Standings& standings;
};

/// One node of an association's path.
struct ExplainedLevel {
    NodeId node = root_node;
    std::string path;
    std::uint32_t shares = 0;
    bool shares_parent = false;
    std::uint64_t level_shares = 0;  ///< sum of the shares it competes with, its own included
    double entitled = 0;             ///< of the machine
    CoreMicros usage = 0;            ///< raw: decayed, of the node and all below it
    double level_usage = 0;          ///< of what its level_parent() used; 0 where that is 0
    NodeStanding standing;           ///< normalised shares and usage, effective usage, level value
    std::uint32_t ahead = 0;         ///< associations that rank higher and whose paths leave this one here
};

struct Explanation {
    std::vector<ExplainedLevel> levels;  ///< from the top down to the association; without the root
    std::uint32_t rank = 0;              ///< 1: the first
    std::uint32_t associations = 0;      ///< in the whole tree
    std::uint32_t tied = 0;              ///< others of the same rank
    double factor = 0;
    std::string reason;  ///< one sentence: what lowers it most, or that nothing does
};

/// The rank as people count it: 1 for the first, one more for each association ahead; ties share the lower number.
/// REQUIRES: the node is an association. O(size).
std::uint32_t rank_for_people(const Standings& standings, NodeId association);

/// Which nodes beside its own path a reason may name, with their values; empty: all.
using MayName = std::function<bool(NodeId)>;

/// The level that lowers it most is the one at
/// which most of the higher associations leave its path (the upper of equals). REQUIRES:
/// tree.is_association(association). O(size).
Explanation explain(const EvaluatedTree& evaluated, NodeId association, const MayName& may_name = {});

/// An account, or another node with nodes below it. Its place is that of the first association below it.
struct AccountExplanation {
    std::vector<ExplainedLevel> levels;  ///< from the top down to the account; `ahead`: of its first association
    struct Below {
        ExplainedLevel level;
        std::optional<NodeId> first;        ///< the first association at or below it
        std::optional<std::uint32_t> rank;  ///< of that association
    };
    std::vector<Below> below;                 ///< its children in the tree's order
    std::optional<NodeId> first;              ///< the first association below it; the upper of equals
    std::optional<Explanation> first_stands;  ///< the explanation of that association
    std::uint32_t associations = 0;           ///< below it
};

/// As explain(). REQUIRES: the node is neither the root nor an association. O(size).
AccountExplanation explain_account(const EvaluatedTree& evaluated, NodeId account, const MayName& may_name = {});

/// A comparison of two nodes, as `pbsfs -c` shows it.
struct Comparison {
    std::string common;  ///< path of the last node that both are below; empty: the root
    std::optional<ExplainedLevel> level_a,
        level_b;  ///< the first level at which they differ; none for equal associations
    std::strong_ordering order = std::strong_ordering::equal;  ///< greater: a is ahead
    std::string reason;                                        ///< one sentence
};

/// As explain(). O(depth x siblings).
Comparison compare(const EvaluatedTree& evaluated, NodeId a, NodeId b);

}  // namespace weir
