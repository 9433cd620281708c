// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see metric.hpp.
#include "libfairshare/usage/metric.hpp"

#include <array>
#include <string>
#include <utility>

namespace weir {

Result<UsagePolicy> usage_policy_named(std::string_view name, PercentSuffix percent) {
    static constexpr auto names = std::to_array<std::pair<std::string_view, UsageMetric>>({
        {"NONE", UsageMetric::none},
        {"DEDICATEDPS", UsageMetric::dedicated_ps},
        {"DEDICATEDPES", UsageMetric::dedicated_pes},
        {"UTILIZEDPS", UsageMetric::utilized_ps},
    });
    const bool has_suffix = !name.empty() && name.back() == '%';
    const std::string_view bare = name.substr(0, name.size() - (has_suffix ? 1 : 0));
    for (const auto& [known, metric] : names) {
        if (bare == known) {
            return UsagePolicy{metric, has_suffix && percent == PercentSuffix::of_available,
                               has_suffix && percent == PercentSuffix::target_ratio};
        }
    }
    return Error{std::errc::invalid_argument, "unknown FSPOLICY \"" + std::string{name} +
                                                  "\"; known are NONE, DEDICATEDPS, DEDICATEDPES, UTILIZEDPS, each "
                                                  "with or without a % behind it"};
}

double processor_equivalents(std::span<const HeldResource> held, double processors) {
    double part = 0;
    for (const HeldResource& resource : held) {
        if (resource.total > 0) {
            part = std::max(part, resource.held / resource.total);
        }
    }
    return part * processors;
}

double charged_processors(UsageMetric metric, const JobConsumption& job) {
    switch (metric) {
        case UsageMetric::none:
            return 0;
        case UsageMetric::dedicated_ps:
            return job.processors;
        case UsageMetric::dedicated_pes:
            return job.processor_equivalents;
        case UsageMetric::utilized_ps:
            return job.cpu_seconds_per_second;
    }
    return 0;
}

}  // namespace weir
