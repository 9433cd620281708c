// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see slurm_usage.hpp.
#include "libfairshare/usage/slurm_usage.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

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
}

void SlurmUsage::add(NodeId leaf, long double usage) {
    for (NodeId at = leaf;; at = tree_->parent(at)) {
        usage_[at.value] += usage;
        if (at == root_node) {
            return;
        }
    }
}

std::vector<CoreMicros> SlurmUsage::snapshot(long double scale) const {
    std::vector<CoreMicros> made(usage_.size(), 0);
    for (std::uint32_t i = tree_->size(); i-- > 1;) {
        if (tree_->is_association(NodeId{i})) {
            made[i] = static_cast<CoreMicros>(usage_[i] * scale);
        }
        made[tree_->parent(NodeId{i}).value] += made[i];
    }
    return made;
}

}  // namespace weir
