// SPDX-License-Identifier: LGPL-3.0-only
// Owns: LSF's dynamic user priority and the order of share accounts by it, level by level.
// Must not know: where usage comes from (usage/lsf_history), jobs, queues. Source: LSF 10.1, lsb.params.
#pragma once
#include <span>
#include <vector>

#include "libfairshare/algorithms/measures.hpp"
#include "libfairshare/algorithms/standings.hpp"

namespace weir {

/// lsb.params; each may be overridden by queue. All at least 0.
struct LsfFactors {
    double cpu_time = 0.7;            ///< CPU_TIME_FACTOR, per hour
    double run_time = 0.7;            ///< RUN_TIME_FACTOR, per hour
    double committed_run_time = 0.0;  ///< COMMITTED_RUN_TIME_FACTOR, per hour, at most 1
    double run_job = 3.0;             ///< RUN_JOB_FACTOR, per slot
    double forwarded_job = 0.0;       ///< FWD_JOB_FACTOR, per forwarded slot
    double adjustment = 0.0;          ///< FAIRSHARE_ADJUSTMENT_FACTOR
    double gpu_run_time = 0.0;        ///< GPU_RUN_TIME_FACTOR, per GPU hour
    friend bool operator==(const LsfFactors&, const LsfFactors&) = default;
};

/// What other clusters add under multicluster and global fairshare.
struct LsfElsewhere {
    double forwarded_slots = 0;
    double load = 0;  ///< remote_fairshare_load: the same terms as here, already weighted
};

/// The divisor of the priority: cpu_time * CPU_TIME_FACTOR + (hist_run_time + run_time) * RUN_TIME_FACTOR +
/// (committed_run_time - run_time) * COMMITTED_RUN_TIME_FACTOR + (1 + slots) * RUN_JOB_FACTOR + ... The committed term
/// counts only where something is committed (a job without a limit commits nothing), and is at least 0.
double lsf_divisor(const DynamicUse& use, const LsfFactors& factors, const LsfElsewhere& elsewhere = {});
/// shares / divisor. If every factor is 0, the divisor is lsf_divisor_min.
double lsf_priority(double shares, const DynamicUse& use, const LsfFactors& factors,
                    const LsfElsewhere& elsewhere = {});
/// Keeps priorities finite, and in the order of the shares if all factors are 0. It is also the unit of the integers in
/// which divisors are compared.
inline constexpr double lsf_divisor_min = 0x1p-32;

/// Selection walks from the top and compares priorities among siblings only. Ranks and factors follow that walk, level
/// by level from the root; factor = rank / associations. Ties are merged as in Fair Tree, whose comparisons of exact
/// ratios are used with the divisor in place of usage.
struct Lsf {
    static constexpr RanksBy ranks_by = RanksBy::level_value;
    LsfFactors factors;

    void evaluate(const ShareTree& tree, const Measures& measures, Standings& into) const;
    /// level_fs is the dynamic priority itself, as bqueues -l prints it.
    NodeStanding node_standing(const ShareTree& tree, const Measures& measures, NodeId id) const;

    /// Divisors in units of lsf_divisor_min, one for each node. An account's divisor comes from the summed use of its
    /// leaves. At least 1.
    std::vector<CoreMicros> divisors(const ShareTree& tree, std::span<const DynamicUse> use) const;
    /// The part that one leaf's use adds to its own divisor and to those above it, in the same units, as two's
    /// complement.
    CoreMicros divisor_part(const DynamicUse& use) const;
    /// The divisor for a sum of such parts.
    CoreMicros divisor_of(CoreMicros sum) const;
};

}  // namespace weir
