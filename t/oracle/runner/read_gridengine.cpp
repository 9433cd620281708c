// SPDX-License-Identifier: LGPL-3.0-only
// Owns: Grid Engine's share tree, tickets, priority and half-life. Must not know the formulas.
#include <cmath>
#include <stdexcept>

#include "libfairshare/algorithms/gridengine.hpp"
#include "libfairshare/usage/step_decay.hpp"
#include "libsched/priority/component_sum.hpp"
#include "t/oracle/runner/cases.hpp"
#include "t/oracle/runner/world.hpp"

namespace weir::oracle {

namespace {

struct Node {
    std::string path;   // in the share tree
    std::string label;  // in the file: "/P1"
    double usage;
    std::uint64_t active;
};

void read_children(const Value* above, const Node& parent, std::vector<NodeSpec>& specs, std::vector<Node>& nodes) {
    for (const Value* child : each(find(above, "children"))) {
        const bool is_leaf = size_of(find(child, "children")) == 0;
        const std::string name = text_at(child, "name");
        const Value* active = find(child, "active");
        const bool counts = is_true(active) || number_of(active) > 0 || (active == nullptr && is_leaf);
        const Node made{(parent.path.empty() ? "" : parent.path + "/") + (is_leaf ? "@" : "") + name,
                        parent.label + "/" + name, number_at(child, "usage"), is_leaf && counts ? 1U : 0U};
        specs.push_back({made.path, std::nullopt, integer_at(child, "shares"), {}});
        nodes.push_back(made);
        read_children(child, made, specs, nodes);
    }
}

void read_gridengine_tree(const Case& one, Report& report) {
    std::vector<NodeSpec> specs;
    std::vector<Node> nodes;
    read_children(member(one.inputs, "tree"), {}, specs, nodes);
    const ShareTree tree = tree_of(specs);
    GridEngine rule;
    rule.compensation_factor = one.number_or({"compensation_factor"}, rule.compensation_factor);
    std::vector<CoreMicros> usage(tree.size());
    std::vector<std::uint64_t> demand(tree.size());
    for (const Node& node : nodes) {
        const NodeId id = node_at(tree, node.path);
        usage[id.value] = static_cast<CoreMicros>(std::llround(node.usage * static_cast<double>(rule.unit)));
        demand[id.value] = node.active;
    }
    const auto targets = rule.targets(tree, {usage, {}, demand});
    for (const auto& [label, figures] : entries(one.expected)) {
        const Node* found = nullptr;
        for (const Node& node : nodes) {
            found = node.label == label ? &node : found;
        }
        if (found == nullptr) {
            throw std::runtime_error{"no node " + std::string{label}};
        }
        const GridEngineTargets got = targets[node_at(tree, found->path).value];
        report.number(std::string{label} + " oltt", number_at(figures, "oltt"), got.long_term, one.tol);
        report.number(std::string{label} + " ostt", number_at(figures, "ostt"), got.short_term, one.tol);
    }
}

void read_tickets(const Case& one, Report& report) {
    std::vector<double> shares = numbers_of(find(one.inputs, "job_shares"));
    shares.resize(static_cast<std::size_t>(one.number_or({"jobs"}, static_cast<double>(shares.size()))));
    const auto tickets =
        share_tickets(number_at(one.inputs, "ostt"), number_at(one.inputs, "weight_tickets_share"), shares);
    const Value* per_job = member(one.expected, "per_job");
    for (std::size_t i = 0; i < tickets.size(); ++i) {
        const Value* expected = is_list(per_job) ? item(per_job, i) : per_job;
        report.number("job " + std::to_string(i), number_of(expected), tickets[i], one.tol);
    }
}

void read_priority(const Case& one, Report& report) {
    const auto part = [&](const char* weight, const char* value) {
        return Component{1, 0, {{number_at(one.inputs, weight), number_at(one.inputs, value), 0}}};
    };
    const std::vector<Component> parts{part("weight_priority", "npprio"), part("weight_urgency", "nurg"),
                                       part("weight_ticket", "ntckts")};
    expect(one, report, "prio", component_sum(parts));
}

void read_gridengine_case(const Case& one, Report& report) {
    if (one.has("tree")) {
        read_gridengine_tree(one, report);
    } else if (one.has("weight_tickets_share")) {
        read_tickets(one, report);
    } else if (one.has("weight_ticket")) {
        read_priority(one, report);
    } else if (one.has("halftime_h")) {
        const double factor = half_life_factor(seconds_of(number_at(one.inputs, "elapsed_h") * 3600),
                                               seconds_of(number_at(one.inputs, "halftime_h") * 3600));
        expect(one, report, "usage", stepped(number_at(one.inputs, "usage"), factor, 0, 0));
    } else {
        throw std::runtime_error{"a case of another kind"};
    }
}

}  // namespace

void read_gridengine(const Value* document, Report& report) {
    for_each_case(document, report, read_gridengine_case);
}

}  // namespace weir::oracle
