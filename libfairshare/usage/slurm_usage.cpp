// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see slurm_usage.hpp.
#include "libfairshare/usage/slurm_usage.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "libfairshare/tree/share_tree_diff.hpp"

namespace weir {

SlurmDecay::SlurmDecay(Duration half_life) {
    if (half_life > Duration{0}) {
        per_second_ = 1.0 - 0.693 / to_seconds(half_life);
    }
}

double SlurmDecay::after(Duration elapsed) const {
    return std::max(std::pow(per_second_, to_seconds(elapsed)), std::numeric_limits<double>::min());
}

double SlurmDecay::charge(Duration elapsed, double cost) const {
    return to_seconds(elapsed) * std::pow(per_second_, to_seconds(elapsed)) * cost;
}

void SlurmUsage::decay(Duration elapsed) {
    const double left = decay_.after(elapsed);
    for (long double& usage : usage_) {
        usage *= left;
    }
    for (long double& usage : left_) {
        usage *= left;
    }
}

void SlurmUsage::add(NodeId node, long double usage) {
    if (!tree_->is_association(node)) {
        left_[node.value] += usage;
    }
    for (NodeId at = node;; at = tree_->parent(at)) {
        usage_[at.value] += usage;
        if (at == root_node) {
            return;
        }
    }
}

void SlurmUsage::reset(NodeId node) {
    const long double gone = usage_[node.value];
    std::vector<std::uint8_t> is_below(tree_->size(), 0);
    for (std::uint32_t i = node.value; i < tree_->size(); ++i) {  // parents come before their children
        is_below[i] = i == node.value || (i > 0 && is_below[tree_->parent(NodeId{i}).value] != 0) ? 1 : 0;
        if (is_below[i] != 0) {
            usage_[i] = left_[i] = 0.0L;
        }
    }
    for (NodeId at = node; at != root_node;) {
        at = tree_->parent(at);
        usage_[at.value] = std::max(usage_[at.value] - gone, 0.0L);
    }
}

void SlurmUsage::rebind(const ShareTree& tree) {
    const std::vector<NodeId> places = match_nodes(*tree_, tree);
    SlurmUsage made{tree, decay_};
    for (std::uint32_t i = 0; i < tree_->size(); ++i) {
        const NodeId old_id{i};
        const long double own = tree_->is_association(old_id) ? usage_[i] : left_[i];
        NodeId heir = old_id;
        while (places[heir.value] == unassociated) {  // the root is matched always
            heir = tree_->parent(heir);
        }
        if (own != 0.0L) {
            made.add(places[heir.value], own);
        }
    }
    *this = std::move(made);
}

std::vector<CoreMicros> SlurmUsage::snapshot(long double scale) const {
    std::vector<CoreMicros> made(usage_.size(), 0);
    for (std::uint32_t i = tree_->size(); i-- > 1;) {
        made[i] += static_cast<CoreMicros>((tree_->is_association(NodeId{i}) ? usage_[i] : left_[i]) * scale);
        made[tree_->parent(NodeId{i}).value] += made[i];
    }
    made[root_node.value] += static_cast<CoreMicros>(left_[root_node.value] * scale);
    return made;
}

}  // namespace weir
