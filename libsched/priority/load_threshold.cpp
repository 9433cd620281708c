// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see load_threshold.hpp.
#include "libsched/priority/load_threshold.hpp"

#include <algorithm>

namespace weir {

namespace {

double minutes(Duration d) {
    return to_seconds(d) / 60;
}

}  // namespace

ResourceScore resource_score(const NodeLoad& node, const ResourceWeights& weights) {
    const double free_cpu = 1 - std::clamp(node.cpu_load, 0.0, 1.0);
    const double free_ram = 1 - std::clamp(node.ram_usage, 0.0, 1.0);
    ResourceScore made;
    made.cpu = weights.cpu_weight * free_cpu * node.cpu_speed / weights.cpu_speed_min;
    made.ram = weights.ram_weight * free_ram * node.ram_size / weights.ram_size_min;
    const double sum = weights.cpu_weight + weights.ram_weight;
    made.score = sum > 0 ? (made.cpu + made.ram) / sum : 0.0;
    return made;
}

std::optional<BestNode> best_node(std::span<const NodeLoad> nodes, const ResourceWeights& weights) {
    std::optional<BestNode> best;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const double score = resource_score(nodes[i], weights).score;
        if (!best || score > best->score) {
            best = BestNode{i, score};
        }
    }
    return best;
}

double LoadThreshold::gained(Duration waited, double score) const {
    return per_minute * minutes(std::max(waited, Duration{0})) * std::max({score, score_min, 0.0});
}

LoadThreshold::Standing LoadThreshold::standing(double base, double gain) const {
    const double raw = base + gain;
    return {raw, std::min(raw, threshold), raw > threshold};
}

std::optional<double> LoadThreshold::average_score(double base, double priority, Duration waited) const {
    const double weight = per_minute * minutes(waited);
    return weight > 0 ? std::optional{(priority - base) / weight} : std::nullopt;
}

}  // namespace weir
