// SPDX-License-Identifier: LGPL-3.0-only
// Owns: how usage is counted under a policy, and the cost of a job. Must not know: where jobs come from, ledgers.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "libsched/config/policy_settings.hpp"

namespace weir {

/// Rates are in this part of a core, so that costs need not be whole.
inline constexpr std::int64_t billing_unit = 1000;
inline constexpr std::int64_t billed_rate_max = std::int64_t{1} << 40;
/// The rate of a job that costs its cores (0 or more), at most billed_rate_max.
constexpr std::int64_t core_rate(std::int64_t cores) {
    return cores > billed_rate_max / billing_unit ? billed_rate_max : cores * billing_unit;
}

/// The decay, in rates of `unit` parts of a core; with LSF's history if the policy or the algorithm uses it.
UsageRules usage_rules(const PolicySettings& settings, std::int64_t unit);
/// Whether the policy or the algorithm goes by LSF's history.
bool goes_by_history(const PolicySettings& settings);
/// Whether a job costs, or may cost, anything but its cores.
bool has_billing(const PolicySettings& settings);
/// Whether usage differs from core-seconds charged as they run, with a half-life or without decay.
bool counts_otherwise(const PolicySettings& settings);

/// The charge of a second of a job, in billing_unit parts of a core, to nearest; 0 to billed_rate_max.
std::int64_t billed_rate(const BillingPolicy& billing, std::span<const ResourceAmount> amounts, std::string_view qos,
                         std::string_view queue);

}  // namespace weir
