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

/// The decay, in rates of `unit` parts of a core; with LSF's history if the policy or the algorithm uses it.
UsageRules usage_rules(const PolicySettings& settings, std::int64_t unit);
/// Whether a job costs, or may cost, anything but its cores.
bool has_billing(const PolicySettings& settings);
/// Whether usage differs from core-seconds charged as they run, with a half-life or without decay.
bool counts_otherwise(const PolicySettings& settings);

/// The charge of a second of a job, in billing_unit parts of a core, to nearest; 0 to 2^40.
std::int64_t billed_rate(const BillingPolicy& billing, std::span<const ResourceAmount> amounts, std::string_view qos,
                         std::string_view queue);

}  // namespace weir
