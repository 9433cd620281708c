// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see usage_settings.hpp.
#include "libsched/config/usage_settings.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace weir {

bool goes_by_history(const PolicySettings& settings) {
    return settings.policy == PolicyKind::lsf || settings.algorithm == "dynamic-user";
}

UsageRules usage_rules(const PolicySettings& settings, std::int64_t unit) {
    UsageRules rules{settings.decay, settings.half_life, settings.window, unit, {}};
    if (goes_by_history(settings)) {
        rules.history = settings.lsf.history;
        rules.history->measures_cpu = false;
    }
    return rules;
}

bool has_billing(const PolicySettings& settings) {
    const BillingPolicy& billing = settings.billing;
    return !billing.weights.empty() || !billing.queue_weights.empty() || !billing.factors.qos.empty() ||
           !billing.factors.queue.empty();
}

bool counts_otherwise(const PolicySettings& settings) {
    return has_billing(settings) || settings.billing.charging != Charging::as_it_runs ||
           settings.decay == DecayKind::window || goes_by_history(settings);
}

std::int64_t billed_rate(const BillingPolicy& billing, std::span<const ResourceAmount> amounts, std::string_view qos,
                         std::string_view queue) {
    const auto own = billing.queue_weights.find(std::string(queue));
    const BillingWeights& weights = own == billing.queue_weights.end() ? billing.weights : own->second;
    const double cost = weights.cost(amounts, billing.rule) * billing.factors.of(qos, queue);
    return std::llround(std::clamp(cost * static_cast<double>(billing_unit), 0., static_cast<double>(billed_rate_max)));
}

}  // namespace weir
