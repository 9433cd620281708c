// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a priority that rises faster while resources are less loaded, up to a threshold that gives a reservation.
// Must not know: queues, jobs, other factors. Source: the Torque/Maui node-load paper, reconstructed.
#pragma once
#include <optional>
#include <span>

#include "libfairshare/base/time.hpp"

namespace weir {

/// One node (or the part of it that is available to a job). Loads in [0, 1]; speeds and sizes in the unit of their
/// minimum.
struct NodeLoad {
    double cpu_load = 0;
    double cpu_speed = 0;
    double ram_usage = 0;
    double ram_size = 0;
};

struct ResourceWeights {
    double cpu_weight = 6;
    double ram_weight = 4;
    double cpu_speed_min = 1;    ///< GHz; above 0
    double ram_size_min = 1024;  ///< MB; above 0
    friend bool operator==(const ResourceWeights&, const ResourceWeights&) = default;
};

/// E of one node: (W_CPU (1 - load) speed / speed_min + W_RAM (1 - usage) size / size_min) / (W_CPU + W_RAM).
struct ResourceScore {
    double cpu = 0;    ///< the CPU term, weighted
    double ram = 0;    ///< the RAM term, weighted
    double score = 0;  ///< E
};
ResourceScore resource_score(const NodeLoad& node, const ResourceWeights& weights);
/// The index of the best node and its score; of equal ones the first. None if no node fits.
struct BestNode {
    std::size_t node;
    double score;
};
std::optional<BestNode> best_node(std::span<const NodeLoad> nodes, const ResourceWeights& weights);

/// P = min(Y + k * integral of max(E, E_min) over the waiting time in minutes, P_th). The paper uses the current E for
/// the whole wait; then P falls when load rises, and on a full cluster no job ages. The integral is monotone, and E_min
/// > 0 lets every job reach the threshold. With a constant E both are Y + k * minutes * E.
struct LoadThreshold {
    double per_minute = 1;  ///< k, at least 0
    double threshold = 55;  ///< P_th
    double score_min = 0;   ///< E_min; 0 is the paper
    friend bool operator==(const LoadThreshold&, const LoadThreshold&) = default;

    /// The gain of one interval of waiting.
    double gained(Duration waited, double score) const;

    struct Standing {
        double raw = 0;         ///< not capped: breaks the ties of those at the threshold
        double priority = 0;    ///< min(raw, threshold)
        bool reserves = false;  ///< raw > threshold
    };
    /// base: Y, the initial value; gain: the sum of gained().
    Standing standing(double base, double gain) const;
    /// The average E with which a job of this base reached this priority; none before any time has passed.
    std::optional<double> average_score(double base, double priority, Duration waited) const;
};

}  // namespace weir
