// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see visible_part.hpp.
#include "cmd/serve/visible_part.hpp"

#include <map>
#include <set>
#include <utility>

#include "cmd/common/instance_facts.hpp"

namespace weir::cmd {
namespace {

std::string path_above(const std::string& path) {
    const std::size_t cut = path.rfind('/');
    return cut == std::string::npos ? "" : path.substr(0, cut);
}

/// "@alice", and "@alice:debug", which is for one partition.
bool is_of_user(const std::string& path, const std::string& user) {
    const std::string name = path.substr(path.rfind('/') + 1), leaf = "@" + user;
    return name.compare(0, leaf.size(), leaf) == 0 && (name.size() == leaf.size() || name[leaf.size()] == ':');
}

/// Paths of the associations of the user and of all accounts above them; "" for the root.
std::set<std::string> own_paths(const std::vector<ShareNode>& nodes, const std::string& user) {
    std::set<std::string> own{""};
    for (const ShareNode& node : nodes) {
        for (std::string at = is_of_user(node.path, user) ? node.path : ""; !at.empty(); at = path_above(at)) {
            own.insert(at);
        }
    }
    return own;
}

void add_to(ShareNode& others, const ShareNode& node) {
    others.shares += node.shares;
    others.entitled += node.entitled;
    others.used += node.used;
    others.usage_core_s += node.usage_core_s;
    others.running_cores += node.running_cores;
    others.pending_jobs += node.pending_jobs;
}

}  // namespace

ShareView visible_tree(const ShareView& view, const std::string& user) {
    const auto own = own_paths(view.nodes, user);
    ShareView visible;
    visible.revision = view.revision;
    visible.time = view.time;
    visible.now = view.now;
    visible.all_core_s = view.all_core_s;
    std::map<std::string, ShareNode> others;
    for (const ShareNode& node : view.nodes) {
        const std::string above = path_above(node.path);
        if (own.count(node.path) > 0) {
            visible.nodes.push_back(node);
        } else if (own.count(above) > 0) {
            ShareNode& sum = others[above];
            sum.path = (above.empty() ? "" : above + "/") + others_name;
            add_to(sum, node);
        }
    }
    for (auto& [above, sum] : others) {
        visible.nodes.push_back(std::move(sum));
    }
    return visible;
}

InstanceFacts visible_usage(const InstanceFacts& facts, const ShareView& visible) {
    std::set<std::string> own;
    ShareView rows;
    for (const ShareNode& node : visible.nodes) {
        if (node.path.find(others_name) == std::string::npos) {
            rows.nodes.push_back(node);
            own.insert(node.path);
        }
    }
    InstanceFacts some;
    some.rows = share_rows_of(rows);
    some.all_core_s = facts.all_core_s;
    some.half_life_s = facts.half_life_s;
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
