// SPDX-License-Identifier: LGPL-3.0-only
// Owns: Grid Engine's share tree: long-term and short-term target shares, compensation, tickets.
// Must not know: where usage comes from (usage/resource_usage has its half-lives). Source: share_tree(5), sgeee.c.
#pragma once
#include <span>
#include <vector>

#include "libfairshare/algorithms/measures.hpp"
#include "libfairshare/algorithms/standings.hpp"

namespace weir {

/// Parts of the machine, in [0, 1]; 0 for what is not active.
struct GridEngineTargets {
    double long_term = 0;   ///< oltt: shares among active siblings, times the parent's
    double short_term = 0;  ///< ostt: the same with past usage weighed in
};

/// Among the active children of each node shr = shares^2 / max(usage, oltt), stt = shr / sum, ostt = parent's ostt *
/// stt. If ostt would exceed compensation_factor * oltt, shr is divided once by that excess and all are normalised
/// again. This damps the value and does not clamp it. A node is active where it or one below has demand (running or
/// pending jobs).
struct GridEngine {
    double compensation_factor = 5;  ///< 0: none, else at least 1
    CoreMicros unit = 1000000;       ///< one unit of Grid Engine's usage, in core-microseconds

    std::vector<GridEngineTargets> targets(const ShareTree& tree, const Measures& measures) const;
    /// Tickets by leaf, normalised: factor = ostt / the greatest; ranks are by it. If no node is active, all are 0.
    void evaluate(const ShareTree& tree, const Measures& measures, Standings& into) const;
};

/// weight_tickets_share * ostt, divided among a leaf's jobs by their job shares (evenly if all are 0).
std::vector<double> share_tickets(double short_term, double weight_tickets_share, std::span<const double> job_shares);

}  // namespace weir
