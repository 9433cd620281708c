// SPDX-License-Identifier: LGPL-3.0-only
// Owns: OpenPBS's resource groups, tree usage, order of entities and decay. Must not know the formulas.
#include <set>
#include <stdexcept>

#include "libfairshare/algorithms/openpbs.hpp"
#include "libfairshare/usage/step_decay.hpp"
#include "t/oracle/runner/cases.hpp"
#include "t/oracle/runner/world.hpp"

namespace weir::oracle {

namespace {

/// A resource_group as a share tree; what has no children is a leaf.
struct Groups {
    std::vector<NodeSpec> specs;
    std::map<std::string, std::string> path_of;
};

Groups groups_of(const Case& one, Report& report) {
    struct Entry {
        std::string name, parent;
        std::int64_t shares;
    };
    std::vector<Entry> entries{{"unknown", "root", static_cast<std::int64_t>(one.number_or({"unknown_shares"}, 10))}};
    std::set<std::string> parents;
    for (const Value* row : each(member(one.inputs, "resource_group"))) {
        report.leave(item(row, 1), "numbers of groups");
        const auto texts = texts_of(row);
        if (texts.size() != 4 || !is_integer(item(row, 3))) {
            throw std::runtime_error{"a line of resource_group is not name, cgroup, parent, shares"};
        }
        entries.push_back({texts[0], texts[2], integer_of(item(row, 3))});
        parents.insert(texts[2]);
    }
    Groups made;
    for (const Entry& entry : entries) {
        const auto above = made.path_of.find(entry.parent);
        if (entry.parent != "root" && above == made.path_of.end()) {
            throw std::runtime_error{entry.name + " stands before its parent " + entry.parent};
        }
        const std::string path = (entry.parent == "root" ? "" : above->second + "/") +
                                 (parents.count(entry.name) != 0 ? "" : "@") + entry.name;
        made.path_of[entry.name] = path;
        made.specs.push_back({path, std::nullopt, entry.shares, {}});
    }
    return made;
}

void read_tree(const Case& one, Report& report) {
    const Groups groups = groups_of(one, report);
    const ShareTree tree = tree_of(groups.specs);
    UsageByPath used;
    for (const auto& [name, value] : entries(find(one.inputs, "usage"))) {
        used.add(groups.path_of.at(name), value);
    }
    const std::vector<CoreMicros> usage = used.of(tree);
    OpenPbs rule;
    rule.unit = static_cast<CoreMicros>(used.unit());
    const Measures measures{usage};
    const auto node = [&](const std::string& of) { return node_at(tree, groups.path_of.at(of)); };
    const auto standing = [&](const std::string& of) { return rule.node_standing(tree, measures, node(of)); };
    for (const auto& [name, figure] : entries(one.expected)) {
        const std::string what{name};
        if (is_number(figure) && what != "root_usage") {
            report.number(what, number_of(figure), standing(what).norm_shares, one.tol);
            continue;
        }
        for (const auto& [who, of_one] : entries(figure)) {
            const std::string label = what + " " + who;
            if (what == "tree_percentage") {
                report.number(label, number_of(of_one), standing(who).norm_shares, one.tol);
            } else if (what == "fairshare_tree_usage") {
                report.number(label, number_of(of_one), standing(who).effective_usage, one.tol);
            } else if (what == "fairshare_factor") {
                report.number(label, number_of(of_one), standing(who).factor.value_or(-1), one.tol);
            } else if (what == "pairwise") {
                const std::string pair{who};
                const auto cut = pair.find('|');
                const auto order = rule.compare(tree, measures, node(pair.substr(0, cut)), node(pair.substr(cut + 1)));
                report.integer(label, integer_of(of_one), std::is_lt(order) ? -1 : std::is_gt(order) ? 1 : 0);
            } else {
                throw std::runtime_error{"unknown figure " + what};
            }
        }
    }
    expect(one, report, "root_usage", static_cast<double>(rule.counted(tree, usage, root_node)) / used.unit());
}

void read_decay(const Case& one, Report& report) {
    const auto before = numbers_of(member(one.inputs, "usage"));
    const auto after = numbers_of(member(one.expected, "after"));
    PeriodicDecay decay;
    decay.factor = number_at(one.inputs, "factor");
    Instant last{};
    const Instant now = last + integer_at(one.inputs, "cycles") * decay.period + Duration{1};
    const std::int64_t passed = decay.periods_passed(last, now);
    report.integer("count", static_cast<std::int64_t>(after.size()), static_cast<std::int64_t>(before.size()));
    for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
        report.number("usage " + std::to_string(i), after[i], decay.after(before[i], passed), one.tol);
    }
}

void read_case(const Case& one, Report& report) {
    if (one.has("resource_group")) {
        read_tree(one, report);
    } else if (one.has("cycles")) {
        read_decay(one, report);
    }  // else nothing is compared, which fails
}

}  // namespace

void read_openpbs(const Value* document, Report& report) {
    for_each_case(document, report, read_case);
}

}  // namespace weir::oracle
