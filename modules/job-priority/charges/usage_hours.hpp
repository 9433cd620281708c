// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a charge of cores between two instants as core-microseconds of each hour, by payer, queue and project.
// Must not know: when a charge ends, how hours are stored.
#pragma once
#include <cstdint>
#include <functional>

#include "libfairshare/base/time.hpp"
#include "modules/job-priority/charges/running_job.hpp"

namespace weir::priority {

inline constexpr std::int64_t micros_per_hour = 3'600'000'000;

/// `cores` (negative: returned) between two instants.
struct CoreSpan {
    std::int64_t cores = 0;
    Instant from, to;
};

/// The hour in which the instant lies.
inline std::int64_t hour_of(Instant at) {
    return floor_divide(micros(at), micros_per_hour);
}

/// The job's payer, queue and project, as reports name them; its hour is 0.
UsageSlot usage_slot(const ShareTree& tree, const RunningJob& job);

/// Calls `take` once for each hour of the span, with the slot of that hour and its core-microseconds: their sum is
/// cores times length, to the digit. Hours more than usage_hours_kept before the end are left out, since no file keeps
/// them. O(hours).
void split_into_hours(UsageSlot slot, const CoreSpan& span,
                      const std::function<void(const UsageSlot&, std::int64_t core_us)>& take);

}  // namespace weir::priority
