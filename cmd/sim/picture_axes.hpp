// SPDX-License-Identifier: LGPL-3.0-only
// Owns: common parts of the pictures of a comparison: the names of the policies, their time, the lines of picture 6.
// Must not know any picture.
#pragma once
#include <string>
#include <vector>

#include "cmd/pictures/policies.hpp"
#include "cmd/sim/comparison.hpp"

namespace weir::cmd {

inline std::vector<std::string> names_of(const Comparison& comparison) {
    std::vector<std::string> names;
    for (const Measured& policy : comparison.policies) {
        names.push_back(policy.name);
    }
    return names;
}

/// Since the first submission.
inline double since_begin_s(const Comparison& comparison, Instant at) {
    return to_seconds(at - comparison.begin);
}

/// From the first submission to the last end.
inline Axis time_axis(const Comparison& comparison, double from, double to, int ticks) {
    return time_axis(since_begin_s(comparison, comparison.end), from, to, ticks);
}

/// Distance from entitlement at each look; nothing where fewer than two accounts ask.
inline Series distance_series(const Comparison& comparison, const Measured& policy) {
    Series series;
    for (const UsageSample& sample : policy.usage) {
        series.emplace_back(since_begin_s(comparison, sample.at),
                            distance_from_entitlement(sample, comparison.yardstick.accounts));
    }
    return series;
}

inline std::vector<PolicyLines> policy_lines(const Comparison& comparison) {
    std::vector<PolicyLines> lines;
    for (const Measured& policy : comparison.policies) {
        const auto& waits = policy.jobs.wait_s;
        lines.push_back(
            {policy.name, distance_series(comparison, policy), policy.wait_ecdf, waits.median, waits.p95, waits.max});
    }
    return lines;
}

}  // namespace weir::cmd
