// SPDX-License-Identifier: LGPL-3.0-only
// Owns: measures of the fairness of a replay to the parties of a tree: the entitlement of each at every moment, what it
// got, and the difference. Must not know policies, files, nor how figures are shown. Decayed usage: usage_history.hpp;
// fair start times: fair_start.hpp.
//
// At every moment t, A(t) are the parties with a job queued or running, d_u(t) the cores of these jobs, a_u(t) the
// cores that run, e_u(t) the machine divided by shares among A(t), capped by d_u(t): FairDivision, down the tree.
#pragma once
#include <cstdint>
#include <vector>

#include "libsched/sim/metrics.hpp"
#include "libsched/sim/party_tree.hpp"
#include "libsched/sim/timeline.hpp"

namespace weir {

/// One party; an account's is the sum of those below it.
struct PartyMetrics {
    std::uint64_t jobs = 0;
    double wait_s = 0;            ///< mean
    double slowdown = 0;          ///< mean bounded slowdown, B_u
    double delivered_core_s = 0;  ///< int a_u: allotted and used
    double allotted_core_s = 0;   ///< int e_u: its entitlement while it had any demand
    double short_core_s = 0;      ///< int max(0, e_u - a_u)
    double starving_core_s = 0;   ///< int e_u over the time in which a_u < 0.8 e_u
    Duration starving_longest{};  ///< the longest such time without a break

    /// US_u, in [0,1]; 0 without entitlement.
    double under_service() const { return allotted_core_s > 0 ? short_core_s / allotted_core_s : 0; }
};

/// The parties at one depth of the tree, and those above it that have none below them.
struct LevelMetrics {
    std::uint32_t depth = 1;
    std::uint64_t parties = 0;  ///< with a job
    /// DEV: mean of D(t) = 1/2 sum |a_u - e_u| / machine over the time with at least two parties in A(t); in [0,1].
    double deviation = 0;
    Spread under_service;      ///< of US_u = int max(0, e_u - a_u) / int e_u
    double gini = 0;           ///< of r_u = int a_u / int e_u; 0: all served alike
    Spread slowdown;           ///< of B_u
    Spread wait_s;             ///< of the parties' mean waits
    double jain_slowdown = 1;  ///< of B_u; the worst dominates it: it can fall when nearly all improve
    double jain_wait = 1;      ///< of the parties' mean waits
    double starving =
        0;  ///< the fraction of all entitlement that belongs to parties served below 0.8 of theirs; in [0,1]
    Duration starving_longest{};  ///< of any party
};

struct FairnessMetrics {
    std::vector<PartyMetrics> parties;  ///< by place in the tree
    std::vector<LevelMetrics> levels;   ///< depth 1 first
};

/// `tree.payer` names a party for each outcome of the timeline. O(n (depth + active log active)). Sources: bounded
/// slowdown and Jain as in metrics.hpp; deviation and under-service are the definitions F1 to F3 of doc/simulator.md;
/// 0.8: YTsaurus' tolerance of a starving pool.
FairnessMetrics fairness_metrics(const Timeline& timeline, const PartyTree& tree, std::int64_t machine_cores);

/// The equal part of the machine that each job deserved while it was in the system: N / (jobs in the system), from its
/// submission to its end. Source: Sabin and Sadayappan, JSSPP 2005.
struct EqualityMetrics {
    double deserved_core_s = 0;  ///< summed over jobs
    double short_core_s = 0;     ///< sum of max(0, deserved - cores x run)
    std::uint64_t short_jobs = 0;
    double short_mean_core_s = 0;  ///< over all jobs
};
/// O(n).
EqualityMetrics equality_metrics(const Timeline& timeline, std::int64_t machine_cores);

}  // namespace weir
