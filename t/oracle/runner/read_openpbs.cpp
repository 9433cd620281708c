// SPDX-License-Identifier: LGPL-3.0-only
// Owns: OpenPBS's resource groups, tree usage, order of entities and decay. Must not know the formulas.
#include <algorithm>
#include <set>
#include <stdexcept>

#include "libfairshare/algorithms/openpbs.hpp"
#include "libfairshare/usage/step_decay.hpp"
#include "t/oracle/runner/cases.hpp"
#include "t/oracle/runner/slurm_text.hpp"
#include "t/oracle/runner/world.hpp"

namespace weir::oracle {

namespace {

/// A line of resource_group.
struct Entry {
    std::string name, parent;
    std::int64_t shares = 0;
};

bool is_root_name(const std::string& name) {
    return name == "root" || name == "TREEROOT";
}

/// Lists [name, cgroup, parent, shares], objects of that, or the file's own lines.
std::vector<Entry> entries_of(const Case& one, Report& report) {
    std::vector<Entry> made;
    const Value* rows = member(one.inputs, "resource_group");
    for (const std::string& line : split(text_of(rows), '\n')) {
        std::string spaced = line.substr(0, line.find('#'));
        std::replace(spaced.begin(), spaced.end(), '\t', ' ');
        const auto words = split(spaced, ' ');
        if (!words.empty()) {
            made.push_back({words.at(0), words.at(2), std::stoll(words.at(3))});
        }
    }
    for (const Value* row : each(rows)) {
        constexpr auto why = "numbers of groups";
        if (is_object(row)) {
            report.leave(find_spelled(row, {"cgroup", "cresgrp", "id", "cresgroup"}), why);
            const std::string parent = text_of(find_spelled(row, {"parent", "group"}));
            made.push_back({text_at(row, "name"), parent.empty() ? "root" : parent, integer_at(row, "shares")});
            continue;
        }
        report.leave(item(row, 1), why);
        if (size_of(row) != 4 || !is_text(item(row, 0)) || !is_text(item(row, 2)) || !is_integer(item(row, 3))) {
            throw std::runtime_error{"a line of resource_group is not name, cgroup, parent, shares"};
        }
        made.push_back({text_of(item(row, 0)), text_of(item(row, 2)), integer_of(item(row, 3))});
    }
    return made;
}

/// The tree of a resource_group with the usage of a case, and all that OpenPBS says of a node.
class Site {
  public:
    Site(const Case& one, Report& report) : tree_(build(one, report)) {
        UsageByPath used;
        for (const auto& [name, value] : entries(one.input({"usage", "usages"}))) {
            if (is_number(value) && is_leaf(name) && number_of(value) > 1) {  // 1 is what everybody has from the start
                used.add(path_of_.at(name), value);
            }
        }
        usage_ = used.of(tree_);
        rule_.unit = static_cast<CoreMicros>(used.unit());
        for (const auto& [name, value] : entries(one.input({"usage", "usages"}))) {
            if (!is_leaf(name)) {
                report.number("usage of " + name, number_of(value), usage(name), one.tol);
            }
        }
    }

    /// "pbsuser3_tree_usage" is the tree usage of pbsuser3; a kind alone is one of the entity's.
    std::pair<std::string, std::string> named_in(const std::string& key, const std::string& entity) const {
        for (const auto& [name, path] : path_of_) {
            if (key.starts_with(name + "_")) {
                return {name, key.substr(name.size() + 1)};
            }
            if (key.ends_with("_" + name)) {
                return {name, key.substr(0, key.size() - name.size() - 1)};
            }
        }
        return {entity, key};
    }
    bool has(const std::string& name) const { return is_root_name(name) || path_of_.contains(name); }
    double usage(const std::string& of) const {
        return static_cast<double>(rule_.counted(tree_, usage_, node(of))) / usage_as_double(rule_.unit);
    }
    NodeStanding standing(const std::string& of) const {
        if (is_root_name(of)) {
            return {1, 1, 1, std::nullopt, std::nullopt};
        }
        return rule_.node_standing(tree_, Measures{usage_}, node(of));
    }
    double usage_per_share(const std::string& of) const {
        return rule_.usage_per_share(tree_, Measures{usage_}, node(of));
    }
    /// -1: a goes first.
    int compare(const std::string& a, const std::string& b) const {
        const auto order = rule_.compare(tree_, Measures{usage_}, node(a), node(b));
        return std::is_lt(order) ? -1 : std::is_gt(order) ? 1 : 0;
    }

  private:
    NodeId node(const std::string& name) const {
        return is_root_name(name) ? root_node : node_at(tree_, path_of_.at(name));
    }
    bool is_leaf(const std::string& name) const { return path_of_.contains(name) && tree_.is_association(node(name)); }

    /// What has no children is a leaf.
    ShareTree build(const Case& one, Report& report) {
        std::vector<Entry> rows = entries_of(one, report);
        const auto unknown =
            std::find_if(rows.begin(), rows.end(), [](const Entry& row) { return row.name == "unknown"; });
        if (unknown == rows.end()) {
            rows.insert(rows.begin(),
                        {"unknown", "root", static_cast<std::int64_t>(one.number_or({"unknown_shares"}, 0))});
        }
        std::set<std::string> parents;
        for (const Entry& row : rows) {
            parents.insert(row.parent);
        }
        std::vector<NodeSpec> specs;
        for (const Entry& row : rows) {
            const bool is_top = is_root_name(row.parent);
            const auto above = path_of_.find(row.parent);
            if (!is_top && above == path_of_.end()) {
                throw std::runtime_error{row.name + " stands before its parent " + row.parent};
            }
            const std::string path =
                (is_top ? "" : above->second + "/") + (parents.contains(row.name) ? "" : "@") + row.name;
            path_of_[row.name] = path;
            specs.push_back({path, std::nullopt, row.shares, {}});
        }
        return tree_of(specs);
    }

    std::map<std::string, std::string> path_of_;
    ShareTree tree_;
    std::vector<CoreMicros> usage_;
    OpenPbs rule_;
};

/// A figure that a node has, by how files call it; percentages where the file's are above 1.
std::optional<double> figure_of(const Site& site, const std::string& kind, const std::string& who, double expected) {
    const std::string word = plain(kind);
    const auto is_any = [&](std::initializer_list<std::string_view> words) {
        return std::find(words.begin(), words.end(), word) != words.end();
    };
    if (is_any(
            {"treepercentage", "percentage", "perc", "treeperc", "percent", "fairshareperc", "share", "percentages"})) {
        const double part = site.standing(who).norm_shares;
        return word != "treepercentage" && word != "share" && expected > 1 ? 100 * part : part;
    }
    if (is_any({"fairsharetreeusage", "treeusage"})) {
        return site.standing(who).effective_usage;
    }
    if (is_any({"fairsharefactor", "factor"})) {
        return site.standing(who).factor.value_or(-1);
    }
    if (is_any(
            {"usageperc", "usageoverperc", "usageperperc", "usagedividedbyperc", "usagepershare", "ratio", "ratios"})) {
        return site.usage_per_share(who);
    }
    if (is_any({"usage", "usages", "countedusage"})) {
        return site.usage(who);
    }
    return std::nullopt;
}

void compare_figure(const Case& one, Report& report, const Site& site, const std::string& kind, const std::string& who,
                    const Value* figure) {
    if (!is_number(figure) || !site.has(who)) {
        return;  // stays unread
    }
    if (const auto got = figure_of(site, kind, who, figure->number())) {
        const std::string what = kind + " " + who;  // what is printed without decimals is not off in proportion
        if (one.tol > 0.01) {
            report.within(what, figure->number(), *got, one.tol);
        } else {
            report.number(what, figure->number(), *got, one.tol);
        }
    } else {
        report.fail(kind, "a figure that this reader knows", kind);
    }
}

/// "a|b": -1; {"first": "a", "of": ["a", "b"]} and a list from the first to the last.
void compare_order(const Case& one, Report& report, const Site& site) {
    for (const auto& [pair, order] : entries(find(one.expected, "pairwise"))) {
        const auto cut = pair.find('|');
        report.integer("pairwise " + pair, integer_of(order), site.compare(pair.substr(0, cut), pair.substr(cut + 1)));
    }
    const auto listed = texts_of(find_spelled(one.expected, {"order", "order_of_entities"}));
    for (std::size_t i = 1; i < listed.size(); ++i) {
        report.text("place " + std::to_string(i), listed[i - 1] + " first",
                    (site.compare(listed[i - 1], listed[i]) <= 0 ? listed[i - 1] : listed[i]) + " first");
    }
    const auto two = texts_of(one.input({"compare", "entities", "pair"}));
    const Value* first = find_spelled(one.expected, {"first", "better", "winner", "goes_first", "should_run_first"});
    if (is_text(first) && two.size() == 2) {
        report.text("first", first->text(), site.compare(two[0], two[1]) <= 0 ? two[0] : two[1]);
    }
}

/// The lines of pbsfs -g: [name, usage, perc, usage/perc], or objects of these.
void compare_path(const Case& one, Report& report, const Site& site) {
    for (const Value* line : each(find_spelled(one.expected, {"path", "path_from_root"}))) {
        if (is_object(line)) {
            const std::string who = text_at(line, "name");
            for (const auto& [kind, figure] : entries(line)) {
                compare_figure(one, report, site, kind, who, figure);
            }
            continue;
        }
        const std::string who = is_text(line) ? line->text() : text_of(item(line, 0));
        const std::vector<std::string> kinds{"usage", "perc", "usage_perc"};
        for (std::size_t i = 0; i < kinds.size() && i + 1 < size_of(line); ++i) {
            compare_figure(one, report, site, kinds[i], who, item(line, size_of(line) - kinds.size() + i));
        }
    }
}

void read_openpbs_tree(const Case& one, Report& report) {
    const Site site{one, report};
    const std::string entity = text_of(one.input({"entity", "fairshare_entity", "who"}));
    compare_order(one, report, site);
    compare_path(one, report, site);
    for (const auto& [name, figure] : entries(one.expected)) {
        if (plain(name) == "rootusage") {
            compare_figure(one, report, site, "usage", "root", figure);
        } else if (is_number(figure) && site.has(name)) {
            compare_figure(one, report, site, "tree_percentage", name, figure);
        } else if (is_number(figure)) {
            const auto [who, kind] = site.named_in(name, entity);
            compare_figure(one, report, site, kind, who, figure);
        }
        for (const auto& [below, value] : entries(name == "pairwise" ? nullptr : figure)) {
            if (site.has(name)) {
                compare_figure(one, report, site, below, name, value);
            } else {
                compare_figure(one, report, site, name, below, value);
            }
        }
    }
}

void read_openpbs_decay(const Case& one, Report& report) {
    const auto before = numbers_of(member(one.inputs, "usage"));
    const auto after = numbers_of(find_spelled(one.expected, {"after", "usage"}));
    PeriodicDecay decay;
    decay.factor = one.number_or({"factor", "fairshare_decay_factor"}, decay.factor);
    Instant last{};
    const auto cycles = static_cast<std::int64_t>(one.number_or({"cycles", "periods"}, 1));
    const Instant now = last + cycles * decay.period + Duration{1};
    const std::int64_t passed = decay.periods_passed(last, now);
    report.integer("count", static_cast<std::int64_t>(after.size()), static_cast<std::int64_t>(before.size()));
    for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
        report.number("usage " + std::to_string(i), after[i], decay.after(before[i], passed), one.tol);
    }
}

void read_openpbs_case(const Case& one, Report& report) {
    if (one.has("resource_group")) {
        read_openpbs_tree(one, report);
    } else {
        read_openpbs_decay(one, report);
    }
}

}  // namespace

void read_openpbs(const Value* document, Report& report) {
    for_each_case(document, report, read_openpbs_case);
}

}  // namespace weir::oracle
