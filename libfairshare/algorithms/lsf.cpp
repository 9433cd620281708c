// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see lsf.hpp.
#include "libfairshare/algorithms/lsf.hpp"

#include <algorithm>
#include <cmath>

#include "libfairshare/algorithms/fair_tree.hpp"

namespace weir {

namespace {

/// The divisor of one who uses nothing.
double idle_divisor(const LsfFactors& factors) {
    return factors.run_job + factors.forwarded_job;
}

__int128 in_units(double divisor) {
    constexpr double most = 0x1p78;  // a part of usage_max, so that sums stay within it
    return static_cast<__int128>(std::clamp(std::nearbyint(divisor / lsf_divisor_min), -most, most));
}

}  // namespace

double lsf_divisor(const DynamicUse& use, const LsfFactors& factors, const LsfElsewhere& elsewhere) {
    const double outstanding =
        use.committed_run_time_h > 0 ? std::max(use.committed_run_time_h - use.run_time_h, 0.0) : 0.0;
    return use.cpu_time_h * factors.cpu_time + (use.hist_run_time_h + use.run_time_h) * factors.run_time +
           outstanding * factors.committed_run_time + (1 + use.job_slots) * factors.run_job +
           (1 + elsewhere.forwarded_slots) * factors.forwarded_job + use.adjustment * factors.adjustment +
           use.gpu_run_time_h * factors.gpu_run_time + elsewhere.load;
}

double lsf_priority(double shares, const DynamicUse& use, const LsfFactors& factors, const LsfElsewhere& elsewhere) {
    return shares / std::max(lsf_divisor(use, factors, elsewhere), lsf_divisor_min);
}

CoreMicros Lsf::divisor_part(const DynamicUse& use) const {
    return static_cast<CoreMicros>(in_units(lsf_divisor(use, factors) - idle_divisor(factors)));
}

CoreMicros Lsf::divisor_of(CoreMicros sum) const {
    return static_cast<CoreMicros>(std::clamp<__int128>(in_units(idle_divisor(factors)) + static_cast<__int128>(sum), 1,
                                                        static_cast<__int128>(usage_max)));
}

std::vector<CoreMicros> Lsf::divisors(const ShareTree& tree, std::span<const DynamicUse> use) const {
    std::vector<CoreMicros> made(tree.size(), 0);
    for (std::uint32_t i = tree.size() - 1; i > 0; --i) {
        if (!use.empty() && tree.is_association(NodeId{i})) {
            made[i] = divisor_part(use[i]);
        }
        made[tree.parent(NodeId{i}).value] += made[i];
        made[i] = divisor_of(made[i]);
    }
    made[root_node.value] = divisor_of(made[root_node.value]);
    return made;
}

void Lsf::evaluate(const ShareTree& tree, const Measures& measures, Standings& into) const {
    const std::vector<CoreMicros> weighed = divisors(tree, measures.dynamic);
    FairTree{}.evaluate(tree, Measures{weighed}, into);
}

NodeStanding Lsf::node_standing(const ShareTree& tree, const Measures& measures, NodeId id) const {
    const DynamicUse use = measures.dynamic.empty() ? DynamicUse{} : measures.dynamic[id.value];
    const auto part = [&](NodeId of) {
        const CoreMicros whole = measures.usage.empty() ? 0 : measures.usage[of.value];
        return whole == 0 ? 0.0 : static_cast<double>(measures.usage[id.value]) / static_cast<double>(whole);
    };
    NodeStanding standing;
    standing.norm_shares = tree.norm_shares(id);
    standing.norm_usage = part(root_node);
    standing.effective_usage = id == root_node ? standing.norm_usage : part(tree.parent(id));
    standing.level_fs = lsf_priority(tree.shares(id), use, factors);
    return standing;
}

}  // namespace weir
