// SPDX-License-Identifier: LGPL-3.0-only
// Owns: Slurm's own test trees, and what its documentation and its program make of ties. Must not know the rules.
#include <cmath>
#include <stdexcept>

#include "t/oracle/runner/slurm_other.hpp"
#include "t/oracle/runner/slurm_tree.hpp"

namespace weir::oracle {

namespace {

constexpr int tree_decimals = 6;

struct Line {
    const char* path;
    std::int64_t shares, usage;
};

/// The trees of which the files give the names and the answers alone: those of t14 and t40 as in slurm/fairshare-*, the
/// others with the levels that the answers tell.
const std::map<std::string, std::vector<Line>>& known_trees() {
    static const std::map<std::string, std::vector<Line>> trees{
        {"t04_account_ties",
         {{"a", 1, 0},
          {"b", 1, 0},
          {"c", 1, 0},
          {"a/@u1", 1, 100},
          {"a/@u2", 1, 900},
          {"b/@u3", 1, 300},
          {"b/@u4", 1, 700},
          {"c/@u5", 1, 2000}}},
        {"t09_zero_usage",
         {{"a", 1, 0}, {"b", 1, 0}, {"a/@u1", 1, 0}, {"a/@u2", 0, 0}, {"b/@u3", 1, 0}, {"b/@u4", 1, 0}}},
        {"t14_partition_assocs",
         {{"a", 1, 0},
          {"b", 1, 0},
          {"a/@u1", 2, 50},
          {"a/@u1:p", 1, 1000},
          {"a/@u1:p2", 3, 200},
          {"a/@u2", 1, 400},
          {"b/@u3", 1, 1650}}},
        {"t16_nested_account_ties",
         {{"a", 1, 0},
          {"b", 1, 0},
          {"c", 1, 0},
          {"a/a1", 1, 0},
          {"a/a2", 1, 0},
          {"b/b1", 1, 0},
          {"b/b2", 1, 0},
          {"a/a1/@u1", 1, 3},
          {"a/a1/@u2", 1, 1},
          {"a/a2/@u3", 1, 4},
          {"b/b1/@u4", 1, 2},
          {"b/b1/@u5", 1, 2},
          {"b/b2/@u6", 1, 4},
          {"c/@u7", 1, 8}}},
        {"t40_rounding_ties",
         {{"a", 7, 0},
          {"b", 9, 0},
          {"c", 4, 0},
          {"a/@u1", 15, 2832},
          {"a/@u2", 75, 14160},
          {"a/@u3", 132, 6201363},
          {"b/@u4", 46, 5140},
          {"b/@u5", 414, 46260},
          {"b/@u6", 73, 3958924},
          {"c/@u7", 24, 12455},
          {"c/@u8", 144, 74730},
          {"c/@u9", 190, 8478066}}},
    };
    return trees;
}

SlurmTree known_tree(const std::string& name) {
    const auto found = known_trees().find(name);
    if (found == known_trees().end()) {
        throw std::runtime_error{"the tree of " + name + " is not known"};
    }
    std::vector<NodeSpec> specs{{"@root", std::nullopt, 1, {}}};
    for (const Line& line : found->second) {
        specs.push_back({line.path, std::nullopt, line.shares, {}});
    }
    SlurmTree made{tree_of(specs), {}, 1, {}, {}};
    made.usage.assign(made.tree.size(), 0);
    made.by_name["root/root"] = node_at(made.tree, "@root");
    for (const Line& line : found->second) {
        const NodeId node = node_at(made.tree, line.path);
        const NodeId account = made.tree.parent(node);
        const std::string_view partition = made.tree.partition(node);
        made.usage[node.value] = static_cast<CoreMicros>(line.usage);
        made.by_name[std::string{made.tree.name(account)} + "/" + std::string{made.tree.name(node)} +
                     (partition.empty() ? "" : "/" + std::string{partition})] = node;
    }
    for (std::uint32_t i = made.tree.size() - 1; i > 0; --i) {
        made.usage[made.tree.parent(NodeId{i}).value] += made.usage[i];
    }
    return made;
}

}  // namespace

void read_slurm_test_tree(const Value* document, Report& report) {
    const SlurmTree made = slurm_tree(slurm_associations(member(document, "assocs")));
    const Algorithm algorithm = slurm_algorithm("PriorityFlags=" + text_at(document, "flags"));
    const Standings standings = evaluate(algorithm, made.tree, made.usage);
    for (const Value* row : each(member(document, "expected_printed_6_decimals"))) {
        const std::string user = text_at(row, "user");
        const NodeId node = made.by_name.at(text_at(row, "account") + (user.empty() ? "" : "/" + user));
        report.begin(made.tree.path(node));
        report.number("raw_usage", number_at(row, "raw_usage"), static_cast<double>(made.usage[node.value]) / made.unit,
                      0);
        if (node == root_node) {
            report.leave(row, "what sshare prints of the root, the same for all trees");
            continue;
        }
        const Value* shares = find(row, "raw_shares");
        if (is_text(shares)) {
            report.text("raw_shares", text_of(shares), made.tree.shares_parent(node) ? "parent" : "a number");
        } else if (is_number(shares)) {
            report.number("raw_shares", number_of(shares), static_cast<double>(made.tree.shares(node)), 0);
        }
        const NodeStanding standing = node_standing(algorithm, made.tree, made.usage, node);
        const auto compare = [&](const char* key, double got) {
            const Value* expected = find(row, key);
            if (expected != nullptr) {
                report.printed(key, text_at(row, key) == "inf" ? INFINITY : number_at(row, key), got, tree_decimals);
            }
        };
        compare("norm_shares", standing.norm_shares);
        compare("norm_usage", standing.norm_usage);
        compare("effectv_usage", standing.effective_usage);
        compare("level_fs", standing.level_fs.value_or(INFINITY));
        compare("fairshare", user.empty() ? standing.factor.value_or(0) : standings.factor[node.value]);
    }
    report.begin("associations");
    report.integer("count", integer_at(document, "user_assoc_count"), made.tree.association_count());
}

void read_slurm_tied_accounts(const Value* document, Report& report) {
    for (const auto& entry : entries(member(document, "cases"))) {
        const std::string& name = entry.first;
        const Value* answers = entry.second;
        const SlurmTree made = known_tree(name);
        const auto compare = [&](const char* whose, const Algorithm& algorithm) {
            report.begin(name + ", " + whose);
            const Standings standings = evaluate(algorithm, made.tree, made.usage);
            for (const auto& [who, factor] : entries(member(answers, whose))) {
                report.number(who, number_of(factor), standings.factor[made.by_name.at(who).value], 1e-12);
            }
        };
        compare("shipped", FairTreeAsSlurm{});
        compare("documented_merge_computed", FairTree{});
    }
}

void read_slurm_broken_ties(const Value* document, Report& report) {
    for (const Value* row : each(document)) {  // [tree, account, [[user, shares, usage, factor, level]...]]
        const std::string name = text_of(item(row, 0));
        const std::string account = text_of(item(row, 1));
        const SlurmTree made = known_tree(name);
        const Standings shipped = evaluate(FairTreeAsSlurm{}, made.tree, made.usage);
        const Standings exact = evaluate(FairTree{}, made.tree, made.usage);
        report.begin(name + ", " + account);
        std::optional<std::uint32_t> tied;
        for (const Value* user : each(item(row, 2))) {
            const std::string who = text_of(item(user, 0));
            const NodeId node = made.by_name.at(account + "/" + who);
            report.integer("shares of " + who, integer_of(item(user, 1)), made.tree.shares(node));
            report.integer("usage of " + who, integer_of(item(user, 2)),
                           static_cast<std::int64_t>(made.usage[node.value]));
            report.number("factor of " + who, number_of(item(user, 3)), shipped.factor[node.value], 1e-12);
            report.number("level of " + who, std::stod(text_of(item(user, 4))),
                          node_standing(FairTree{}, made.tree, made.usage, node).level_fs.value_or(INFINITY), 1e-12);
            report.integer("rank without roundings of " + who, tied.value_or(exact.rank[node.value]),
                           exact.rank[node.value]);
            tied = exact.rank[node.value];
        }
    }
}

}  // namespace weir::oracle
