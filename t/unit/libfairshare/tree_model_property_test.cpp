// SPDX-License-Identifier: LGPL-3.0-only
// Owns: properties of what nodes may have beyond plain shares: parent's shares, partitions, the fields of both texts.
#include <catch2/catch.hpp>
#include <map>

#include "libfairshare/algorithms/algorithm.hpp"
#include "libfairshare/json/share_tree_json.hpp"
#include "libfairshare/toml/share_tree_toml.hpp"
#include "libfairshare/tree/share_tree_diff.hpp"
#include "t/unit/draws.hpp"
#include "t/unit/libfairshare/generators.hpp"

using namespace weir;
using namespace weir::testing;

namespace {

std::vector<NodeSpec> specs_of(const std::vector<RandomLine>& lines) {
    Lines plain;
    for (const RandomLine& line : lines) {
        plain.emplace_back(line.path, line.shares);
    }
    return specs(plain);
}

ShareTree built(const std::vector<NodeSpec>& from) {
    auto made = build_share_tree(from);
    if (auto* diagnostics = std::get_if<Diagnostics>(&made)) {
        RC_FAIL(to_string(*diagnostics));
    }
    return std::get<ShareTree>(std::move(made));
}

/// At most one term of a kind, any of them on any node.
void add_random_terms(NodeSpec& spec) {
    const auto number = [](int highest) { return static_cast<std::uint64_t>(draw::in_range(0, highest)); };
    if (number(3) == 0) {
        spec.terms.emplace_back(PartitionShares{"p", static_cast<std::uint32_t>(number(9))});
        spec.terms.emplace_back(PartitionShares{"q", static_cast<std::uint32_t>(number(9))});
    }
    if (number(3) == 0) {
        const auto kind = static_cast<TargetKind>(number(5));
        spec.terms.emplace_back(FairShareTarget{kind, static_cast<double>(number(1000)) / 10});
    }
    if (number(3) == 0) {
        const std::uint64_t hard = number(1000000);
        Limit limit{static_cast<LimitKind>(number(limit_kinds)), hard, std::nullopt};
        if (number(2) == 0) {
            limit.soft = number(static_cast<int>(hard) + 1);
        }
        spec.terms.emplace_back(limit);
    }
    if (number(3) == 0) {
        spec.terms.emplace_back(Projects{{"qcd", std::string(no_project), "a b"}});
        spec.terms.emplace_back(DefaultProject{number(2) == 0 ? "qcd" : "a b"});
    }
    spec.shares_parent = number(4) == 0;
}

}  // namespace

// Kills: a field that one of the texts leaves out (`together`, `default`) or reads otherwise; terms given to the wrong
// node of the side table.
TEST_CASE("tree model: both texts say everything that a tree has") {
    draw::property("TOML to JSON and back", [] {
        std::vector<NodeSpec> lines = specs_of(random_lines());
        for (std::size_t i = 0, named = lines.size(); i < named; ++i) {
            const bool is_user = lines[i].name.find('@') != std::string::npos;
            lines[i].is_default = is_user && draw::arbitrary<bool>();
            if (!is_user && draw::arbitrary<bool>()) {
                NodeSpec any;
                any.name = lines[i].name + "/@*";
                any.is_together = draw::arbitrary<bool>();
                lines.push_back(any);
            }
        }
        for (NodeSpec& line : lines) {
            add_random_terms(line);
        }
        const ShareTree tree = built(lines);
        const std::string toml = write_share_tree(tree);
        const auto from_toml = parse_share_tree(toml);
        RC_ASSERT(std::holds_alternative<ShareTree>(from_toml));
        auto changes = diff_trees(tree, std::get<ShareTree>(from_toml));
        std::erase_if(changes, is_of_order);  // the written text has the order of the tree
        RC_ASSERT(changes.empty());
        const auto from_json = parse_share_tree_json(write_share_tree_json(std::get<ShareTree>(from_toml)));
        RC_ASSERT(std::holds_alternative<ShareTree>(from_json));
        RC_ASSERT(diff_trees(std::get<ShareTree>(from_toml), std::get<ShareTree>(from_json)).empty());
        RC_ASSERT(write_share_tree(std::get<ShareTree>(from_json)) == toml);
        for (const NodeSpec& line : lines) {
            const ShareTree& read = std::get<ShareTree>(from_json);
            const NodeId id = at(read, line.name);
            RC_ASSERT(read.terms(id).size() == line.terms.size());
            RC_ASSERT(read.is_default(id) == line.is_default);
            RC_ASSERT((read.kind(id) == NodeKind::others) == line.is_together);
        }
    });
}

// Kills: child_shares() that adds a `parent` account's children to that account; entitled_share() that multiplies in
// a level which shares its parent's, or gives such an account its parent's.
TEST_CASE("tree model: an account with parent's shares could as well not be there") {
    draw::property("flattened", [] {
        const auto lines = random_lines();
        std::vector<NodeSpec> with = specs_of(lines);
        std::vector<NodeSpec> without = with;
        std::map<std::string, std::string> place;  // path with the accounts to path without
        std::vector<std::string> passed;
        for (NodeSpec& line : with) {
            line.shares_parent = line.name.find('@') == line.name.npos && draw::in_range(0, 2) == 0;
            if (line.shares_parent) {
                passed.push_back(line.name);
            }
        }
        const auto flattened = [&](const std::string& path) {
            std::string flat;
            for (std::size_t begin = 0; begin < path.size();) {
                const std::size_t end = std::min(path.find('/', begin), path.size());
                if (std::find(passed.begin(), passed.end(), path.substr(0, end)) == passed.end()) {
                    flat += (flat.empty() ? "" : "/") + path.substr(begin, end - begin);
                }
                begin = end + 1;
            }
            return flat;
        };
        std::erase_if(without, [&](const NodeSpec& line) {
            return std::find(passed.begin(), passed.end(), line.name) != passed.end();
        });
        for (NodeSpec& line : without) {
            place[line.name] = flattened(line.name);
            line.name = place[line.name];
        }
        const ShareTree nested = built(with);
        const ShareTree flat = built(without);
        for (const auto& [path, flat_path] : place) {
            const double entitled = flat.entitled_share(at(flat, flat_path));
            RC_ASSERT(std::abs(nested.entitled_share(at(nested, path)) - entitled) <= 1e-12);
        }
        for (const std::string& path : passed) {
            double below = 0;
            for (const NodeId child : nested.children(at(nested, path))) {
                below += nested.entitled_share(child);
            }
            RC_ASSERT(std::abs(nested.entitled_share(at(nested, path)) - below) <= 1e-12);
        }
        const std::vector<CoreMicros> usage = usage_of(nested, lines);
        std::vector<CoreMicros> flat_usage(flat.size(), 0);
        for (const auto& [path, flat_path] : place) {
            flat_usage[at(flat, flat_path).value] = usage[at(nested, path).value];
        }
        flat_usage[0] = usage[0];
        for (const char* name : {"fair-tree", "weighted-tree"}) {
            const Standings a = evaluate(*algorithm_named(name), nested, usage);
            const Standings b = evaluate(*algorithm_named(name), flat, flat_usage);
            for (const auto& [path, flat_path] : place) {
                RC_ASSERT(a.rank[at(nested, path).value] == b.rank[at(flat, flat_path).value]);
            }
        }
    });
}

// Kills: in_partition() that keeps the global sum of the siblings' shares, or gives no fallback.
TEST_CASE("tree model: a partition's tree is the tree with that partition's shares") {
    draw::property("partition", [] {
        std::vector<NodeSpec> lines = specs_of(random_lines());
        std::vector<NodeSpec> plain = lines;
        for (std::size_t i = 0; i < lines.size(); ++i) {
            if (draw::in_range(0, 2) == 0) {
                const auto shares = static_cast<std::uint32_t>(draw::in_range(0, 9));
                lines[i].terms.emplace_back(PartitionShares{"p", shares});
                plain[i].shares = shares;
            }
        }
        const ShareTree seen = built(lines).in_partition("p");
        const ShareTree wanted = built(plain);
        for (std::uint32_t i = 0; i < wanted.size(); ++i) {
            RC_ASSERT(seen.shares(NodeId{i}) == wanted.shares(NodeId{i}));
            RC_ASSERT(seen.child_shares(NodeId{i}) == wanted.child_shares(NodeId{i}));
        }
    });
}
