// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the metric of usage (Moab's FSPOLICY): processors dedicated, processor-equivalents, or CPU time used, as
// percent of what was delivered or of what is available. Must not know: ledgers, targets.
#pragma once
#include <algorithm>
#include <span>
#include <string_view>

#include "libfairshare/base/result.hpp"
#include "libfairshare/usage/usage.hpp"

namespace weir {

enum class UsageMetric {
    none,           ///< NONE: nothing is counted
    dedicated_ps,   ///< DEDICATEDPS: processors held x seconds
    dedicated_pes,  ///< DEDICATEDPES: processor-equivalents held x seconds
    utilized_ps,    ///< UTILIZEDPS: CPU seconds really used
};

/// The two meanings that "%" has had. Source: Moab 6.3 (of_available), Maui 3.3.1 (target_ratio).
enum class PercentSuffix {
    of_available,  ///< usage is a percentage of what the machine could have delivered, not of what it did
    target_ratio,  ///< a target's discrepancy is 1 - usage / target, not target - usage
};

struct UsagePolicy {
    UsageMetric metric = UsageMetric::none;
    bool is_of_available = false;
    bool is_target_ratio = false;
};

/// "DEDICATEDPS", "UTILIZEDPS%" …; `percent` says what a suffix means. Errors: EINVAL with the list.
Result<UsagePolicy> usage_policy_named(std::string_view name, PercentSuffix percent);

/// The amount that a job holds of one resource, and the total of that resource, in the same unit.
struct HeldResource {
    double held = 0;
    double total = 0;
};

/// Processor-equivalents: the greatest fraction that the job holds of any resource, times the processors. A resource
/// with total 0 is ignored. 25 % of the processors and 50 % of the memory of a machine with 128 processors are 64.
double processor_equivalents(std::span<const HeldResource> held, double processors);

/// The charge of one job per second under a metric.
struct JobConsumption {
    double processors = 0;
    double processor_equivalents = 0;
    double cpu_seconds_per_second = 0;
};
double charged_processors(UsageMetric metric, const JobConsumption& job);

/// 100 * part / whole; 0 if the whole is 0.
inline double percent_of(CoreMicros part, CoreMicros whole) {
    return whole == 0 ? 0.0 : 100.0 * usage_as_double(part) / usage_as_double(whole);
}

}  // namespace weir
