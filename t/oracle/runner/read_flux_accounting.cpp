// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the files of flux-accounting: every rank and factor of its own program, or the exact rank where that errs.
// Must not know how a rank is found: libfairshare's weighted-tree is asked.
#include "libfairshare/algorithms/algorithm.hpp"
#include "t/oracle/runner/world.hpp"

namespace weir::oracle {

namespace {

/// Usage below this weighs nothing in the program.
constexpr double usage_min = 1e-9;

struct Banks {
    std::vector<NodeSpec> specs;
    UsageByPath usage;
    std::map<std::string, std::vector<std::string>> path_of;  // "bank user" to paths
};

bool is_active(const json_t* node) {
    const json_t* active = json_object_get(node, "active");
    return active == nullptr || json_is_true(active) || (json_is_integer(active) && json_integer_value(active) != 0);
}

/// The node's children; `path` and `bank` are its own.
void read_children(const json_t* node, const std::string& path, Banks& into) {
    const json_t* child = nullptr;
    std::size_t i = 0;
    json_array_foreach(json_object_get(node, "children"), i, child) {
        if (!is_active(child)) {
            continue;
        }
        const std::string user = text_at(child, "user");
        const std::string here =
            (path.empty() ? "" : path + "/") + (user.empty() ? text_at(child, "bank") : "@" + user);
        into.specs.push_back({here, std::nullopt, integer_at(child, "shares"), {}});
        if (user.empty()) {
            read_children(child, here, into);
            continue;
        }
        const json_t* usage = member(child, "usage");
        if (json_number_value(usage) >= usage_min) {
            into.usage.add(here, usage);
        }
        into.path_of[text_at(node, "bank") + " " + user].push_back(here);
    }
}

}  // namespace

void read_flux_accounting(const json_t* document, Report& report) {
    Banks banks;
    read_children(member(document, "tree"), "", banks);
    const ShareTree tree = tree_of(banks.specs);
    const auto usage = banks.usage.of(tree);
    const Standings standings = evaluate(*algorithm_named("weighted-tree"), tree, usage);
    const json_t* row = nullptr;
    std::size_t i = 0;
    json_array_foreach(member(document, "expected"), i, row) {
        const std::string who = text_at(row, "bank") + " " + text_at(row, "user");
        report.begin(who);
        const auto& paths = banks.path_of[who];
        if (paths.size() != 1) {
            report.fail("associations", "1", std::to_string(paths.size()));
            continue;
        }
        const NodeId id = node_at(tree, paths.front());
        const json_t* exact = json_object_get(row, "rank_exact");
        const std::int64_t rank = integer_at(row, exact != nullptr ? "rank_exact" : "rank");
        report.integer("rank", rank, standings.rank[id.value]);
        report.number(
            "fairshare",
            exact != nullptr ? static_cast<double>(rank) / tree.association_count() : number_at(row, "fairshare"),
            standings.factor[id.value], 1e-12);
    }
    report.begin("associations ranked");
    report.integer("count", static_cast<std::int64_t>(json_array_size(member(document, "expected"))),
                   tree.association_count());
}

}  // namespace weir::oracle
