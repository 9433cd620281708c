// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see visible_part.hpp.
#include "cmd/serve/visible_part.hpp"

#include <set>
#include <utility>

#include "cmd/common/instance_facts.hpp"

namespace weir::cmd {
namespace {

std::string path_above(const std::string& path) {
    const std::size_t cut = path.rfind('/');
    return cut == std::string::npos ? "" : path.substr(0, cut);
}

}  // namespace

InstanceFacts visible_usage(const InstanceFacts& facts, const ShareView& visible) {
    std::set<std::string> own;
    ShareView rows;
    for (const ShareNode& node : visible.nodes) {
        if (!node.is_sum) {
            rows.nodes.push_back(node);
            own.insert(node.path);
        }
    }
    InstanceFacts some;
    some.rows = share_rows_of(rows);
    some.all_core_s = facts.all_core_s;
    some.decay = facts.decay;
    some.known_since_s = facts.known_since_s;
    for (UsageCharge charge : facts.charges) {
        while (own.count(charge.path) == 0 && !charge.path.empty()) {
            charge.path = path_above(charge.path);
        }
        some.charges.push_back(std::move(charge));
    }
    return some;
}

InstanceBox visible_box(const InstanceBox& top) {
    InstanceBox box = top;
    box.problem = top.problem.empty() ? "" : "it does not serve";
    for (InstanceBox& child : box.children) {
        child.children.clear();
        child.way.clear();
        child.name = child.has_queues ? child.name : "an instance";
        child.problem = child.problem.empty() ? "" : "it does not serve";
    }
    return box;
}

JobTerms nameless(JobTerms job) {
    job.job = "another job";
    job.user.clear();
    return job;
}

}  // namespace weir::cmd
