// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see gridengine.hpp.
#include "libfairshare/algorithms/gridengine.hpp"

#include <algorithm>
#include <numeric>

namespace weir {

namespace {

/// By node: whether it or a node below wants anything.
std::vector<bool> active_nodes(const ShareTree& tree, std::span<const std::uint64_t> demand) {
    std::vector<bool> active(tree.size(), false);
    for (std::uint32_t i = tree.size() - 1; i > 0; --i) {
        active[i] = active[i] || demand.empty() || demand[i] > 0;
        if (active[i]) {
            active[tree.parent(NodeId{i}).value] = true;
        }
    }
    return active;
}

}  // namespace

std::vector<GridEngineTargets> GridEngine::targets(const ShareTree& tree, const Measures& measures) const {
    const std::vector<bool> active = active_nodes(tree, measures.demand);
    std::vector<GridEngineTargets> made(tree.size());
    made[root_node.value] = {1, 1};
    std::vector<NodeId> level;
    std::vector<double> weights;
    for (std::uint32_t parent = 0; parent < tree.size(); ++parent) {
        if (made[parent].long_term == 0) {
            continue;  // entitled to nothing, and so is what is below
        }
        level.clear();
        weights.clear();
        double shares = 0;
        for (NodeId child : tree.children(NodeId{parent})) {
            if (active[child.value] && tree.shares(child) > 0 && tree.kind(child) != NodeKind::any_member) {
                level.push_back(child);
                shares += tree.shares(child);
            }
        }
        for (NodeId child : level) {
            const double own = tree.shares(child);
            const double used = static_cast<double>(measures.usage[child.value]) / static_cast<double>(unit);
            made[child.value].long_term = made[parent].long_term * own / shares;
            weights.push_back(own * own / std::max(used, made[child.value].long_term));
        }
        const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
        for (std::size_t i = 0; i < level.size() && compensation_factor > 0; ++i) {
            const double allowed = compensation_factor * made[level[i].value].long_term;
            weights[i] /= std::max(made[parent].short_term * (weights[i] / sum) / allowed, 1.0);
        }
        const double damped = std::accumulate(weights.begin(), weights.end(), 0.0);
        for (std::size_t i = 0; i < level.size(); ++i) {
            made[level[i].value].short_term = made[parent].short_term * (weights[i] / damped);
        }
    }
    return made;
}

void GridEngine::evaluate(const ShareTree& tree, const Measures& measures, Standings& into) const {
    const std::vector<GridEngineTargets> parts = targets(tree, measures);
    into.factor.assign(tree.size(), 0.0);
    double greatest = 0;
    for (std::uint32_t i = 1; i < tree.size(); ++i) {
        if (tree.is_association(NodeId{i})) {
            into.factor[i] = parts[i].short_term;
            greatest = std::max(greatest, parts[i].short_term);
        }
    }
    for (double& factor : into.factor) {
        factor = greatest > 0 ? factor / greatest : 0.0;
    }
    rank_by_factor(tree, into);
}

std::vector<double> share_tickets(double short_term, double weight_tickets_share, std::span<const double> job_shares) {
    const double all = std::accumulate(job_shares.begin(), job_shares.end(), 0.0);
    std::vector<double> tickets;
    for (const double shares : job_shares) {
        const double part = all > 0 ? shares / all : 1.0 / static_cast<double>(job_shares.size());
        tickets.push_back(weight_tickets_share * short_term * part);
    }
    return tickets;
}

}  // namespace weir
