// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the arithmetic of a priority, and the same over a block of jobs with vector instructions; both agree to the
// last bit. Must not know what the terms mean, nor which jobs changed.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "libsched/job.hpp"

namespace weir {

struct PassValues {
    double wait_weight;
    std::int64_t wait_max_us;  ///< above 0
    double fairshare_weight;
    double bias;  ///< of the rounding
    double ceiling;
};

/// The one formula. Every caller adds in this order, so a breakdown's sum and the pass agree to the last bit. Only the
/// fraction is still to be cut off.
inline double combine(const PassValues& v, std::int64_t waited_us, double fairshare, double fixed) {
    const std::int64_t counted = std::min(std::max<std::int64_t>(waited_us, 0), v.wait_max_us);
    const double wait = static_cast<double>(counted) / static_cast<double>(v.wait_max_us);
    double sum = (v.wait_weight * wait + v.fairshare_weight * fairshare) + fixed;
    sum = sum + v.bias;
    sum = sum > v.ceiling ? v.ceiling : sum;
    sum = sum < 1. ? 1. : sum;
    return sum;
}

inline std::uint32_t whole(double sum) {
    return static_cast<std::uint32_t>(static_cast<std::int64_t>(sum));
}

inline std::uint32_t bypass_or(std::uint8_t urgency, std::uint32_t computed) {
    const std::uint32_t unless_expedited = urgency >= 31 ? priority_expedited : computed;
    return urgency == 0 ? priority_held : unless_expedited;
}

/// The inputs for the priorities of some jobs, as columns.
struct PassColumns {
    const std::int64_t* eligible_us;
    const double* fixed;
    const std::uint32_t* association;  ///< in its lower bits `association_mask`
    const std::uint8_t* urgency;
    std::uint32_t association_mask;
    const double* factors;  ///< by association; factors[factor_count] is for greater indices
    std::uint32_t factor_count;
};

/// The most jobs of a block.
inline constexpr std::size_t pass_block = 512;

/// bypass_or(urgency, whole(combine())) of `count` jobs.
void compute_block(const PassValues& values, const PassColumns& jobs, std::int64_t now_us, std::size_t count,
                   std::uint32_t* priorities);

using BlockFunction = void (*)(const PassValues&, const PassColumns&, std::int64_t, std::size_t, std::uint32_t*);
/// The variants of compute_block() for each vector width that this processor can run. All give the same results.
std::vector<BlockFunction> block_functions();

}  // namespace weir
