// SPDX-License-Identifier: LGPL-3.0-only
// The rules every algorithm here keeps, and Fair Tree against a slow reading of its definition in rational numbers.
#include <catch2/catch.hpp>
#include <map>
#include <numeric>

#include "libfairshare/algorithms/algorithm.hpp"
#include "t/unit/draws.hpp"
#include "t/unit/libfairshare/generators.hpp"

using namespace weir;
using namespace weir::testing;

namespace {

std::map<std::string, std::pair<std::uint32_t, double>> ranked(const Algorithm& algorithm,
                                                               const std::vector<RandomLine>& lines) {
    const ShareTree tree = tree_of_random(lines);
    const Standings standings = evaluate(algorithm, tree, usage_of(tree, lines));
    std::map<std::string, std::pair<std::uint32_t, double>> by_path;
    for (const RandomLine& line : lines) {
        const NodeId id = at(tree, line.path);
        by_path[line.path] = {standings.rank[id.value], standings.factor[id.value]};
    }
    return by_path;
}

/// level FS as a reduced fraction; 1/0 is infinite.
using Fraction = std::pair<std::int64_t, std::int64_t>;

Fraction level(const ShareTree& tree, const std::vector<CoreMicros>& usage, NodeId id) {
    const auto own = static_cast<std::int64_t>(usage[id.value]);
    const auto above = static_cast<std::int64_t>(usage[tree.parent(id).value]);
    if (tree.shares(id) == 0) {
        return {0, 1};
    }
    if (own == 0) {
        return {1, 0};
    }
    const std::int64_t top = tree.shares(id) * above;
    const std::int64_t bottom = static_cast<std::int64_t>(tree.child_shares(tree.parent(id))) * own;
    const std::int64_t common = std::gcd(top, bottom);
    return {top / common, bottom / common};
}
struct Higher {
    bool operator()(const Fraction& a, const Fraction& b) const { return a.first * b.second > b.first * a.second; }
};

/// By the definition: group, users first, merge the accounts of a group, go down.
void reference(const ShareTree& tree, const std::vector<CoreMicros>& usage, const std::vector<NodeId>& list,
               std::optional<std::uint32_t> inherited, std::uint32_t& next,
               std::map<std::uint32_t, std::uint32_t>& out) {
    std::map<Fraction, std::vector<NodeId>, Higher> groups;
    for (NodeId id : list) {
        groups[level(tree, usage, id)].push_back(id);
    }
    for (const auto& [fraction, group] : groups) {
        std::optional<std::uint32_t> rank = inherited;
        inherited.reset();
        std::vector<NodeId> merged;
        std::uint32_t users = 0;
        for (NodeId id : group) {
            if (tree.kind(id) == NodeKind::user) {
                rank = rank ? rank : next;
                out[id.value] = *rank;
                ++users;
            } else {
                const auto children = tree.children(id);
                merged.insert(merged.end(), children.begin(), children.end());
            }
        }
        next -= users;
        reference(tree, usage, merged, rank, next, out);
    }
}

}  // namespace

// Kills: deciding close levels by their doubles (sort() without the exact pass), ties that do not share a rank,
// accounts that are not merged, a rank that does not skip after a tie.
TEST_CASE("fair tree: ranks are those of the definition") {
    draw::property("equal to the rational reference", [] {
        const auto lines = random_lines();
        const ShareTree tree = tree_of_random(lines);
        const auto usage = usage_of(tree, lines);
        const Standings standings = evaluate(FairTree{}, tree, usage);
        std::vector<NodeId> top;
        for (NodeId id : tree.children(root_node)) {
            top.push_back(id);
        }
        std::map<std::uint32_t, std::uint32_t> expected;
        std::uint32_t next = tree.association_count();
        reference(tree, usage, top, std::nullopt, next, expected);
        for (std::uint32_t i = 0; i < tree.size(); ++i) {
            RC_ASSERT(standings.rank[i] == (expected.contains(i) ? expected.at(i) : 0U));
        }
    });
}

namespace {

/// All but the one that copies a program's rounding and listed order.
std::vector<AlgorithmEntry> exact_algorithms() {
    std::vector<AlgorithmEntry> exact;
    for (const AlgorithmEntry& entry : algorithms()) {
        if (!std::holds_alternative<FairTreeAsSlurm>(entry.algorithm)) {
            exact.push_back(entry);
        }
    }
    return exact;
}

}  // namespace

// Kills: a level FS that leaves out the sum of the siblings' shares (wrong across merged accounts).
TEST_CASE("all algorithms: multiplying siblings' shares changes nothing") {
    draw::property("scale", [] {
        const auto lines = random_lines();
        auto scaled = lines;
        const std::int64_t by = draw::in_range(2, 1000);
        const std::string& chosen = lines[draw::in_range<std::size_t>(0, lines.size())].path;
        const auto parent_of = [](const std::string& path) {
            const std::size_t slash = path.rfind('/');
            return path.substr(0, slash == std::string::npos ? 0 : slash);
        };
        for (RandomLine& line : scaled) {
            if (parent_of(line.path) == parent_of(chosen)) {
                line.shares *= by;
            }
        }
        for (const AlgorithmEntry& entry : exact_algorithms()) {
            const auto before = ranked(entry.algorithm, lines);
            for (const auto& [path, standing] : ranked(entry.algorithm, scaled)) {
                RC_ASSERT(standing.first == before.at(path).first);
                RC_ASSERT(std::abs(standing.second - before.at(path).second) < 1e-12);
            }
        }
    });
}

// Kills: ties broken by the order of the lines (the id in the sort taken for a rank).
TEST_CASE("all algorithms: the order of the lines changes nothing") {
    draw::property("permutation", [] {
        auto lines = random_lines();
        std::vector<std::map<std::string, std::pair<std::uint32_t, double>>> before;
        for (const AlgorithmEntry& entry : exact_algorithms()) {
            before.push_back(ranked(entry.algorithm, lines));
        }
        for (std::size_t i = lines.size(); i > 1; --i) {
            std::swap(lines[i - 1], lines[draw::in_range<std::size_t>(0, i)]);
        }
        for (std::size_t k = 0; k < before.size(); ++k) {
            RC_ASSERT(ranked(exact_algorithms()[k].algorithm, lines) == before[k]);
        }
    });
}

// Kills: usage over shares turned round anywhere; effective usage taken of the root's instead of the parent's usage
// does not break it and is left to the oracle.
TEST_CASE("all algorithms: more usage never raises a factor, more shares never lower it") {
    draw::property("monotony", [] {
        auto lines = random_lines();
        const std::size_t i = draw::in_range<std::size_t>(0, lines.size());
        if (lines[i].path.find('@') == std::string::npos) {
            return;  // accounts have no usage of their own
        }
        auto used = lines;
        used[i].usage += static_cast<CoreMicros>(draw::in_range(1, 10));
        auto shared = lines;
        shared[i].shares += draw::in_range(1, 10);
        for (const AlgorithmEntry& entry : algorithms()) {
            const double before = ranked(entry.algorithm, lines).at(lines[i].path).second;
            RC_ASSERT(ranked(entry.algorithm, used).at(lines[i].path).second <= before + 1e-12);
            RC_ASSERT(ranked(entry.algorithm, shared).at(lines[i].path).second >= before - 1e-12);
        }
    });
}

// Kills: factors by rank / size of the tree; the balanced factor below 1.
TEST_CASE("all algorithms: equal shares and no usage put everyone at factor 1, usage in [0, 1]") {
    draw::property("balance", [] {
        auto lines = random_lines();
        for (const AlgorithmEntry& entry : algorithms()) {
            for (const auto& [path, standing] : ranked(entry.algorithm, lines)) {
                RC_ASSERT(standing.second >= 0.0);
                RC_ASSERT(standing.second <= 1.0);
            }
        }
        for (RandomLine& line : lines) {
            line.shares = 1;
            line.usage = 0;
        }
        for (const char* name : {"fair-tree", "classic"}) {
            for (const auto& [path, standing] : ranked(*algorithm_named(name), lines)) {
                const bool is_user = path.substr(path.rfind('/') + 1).starts_with('@');
                RC_ASSERT(standing.second == (is_user ? 1.0 : 0.0));
            }
        }
    });
}
