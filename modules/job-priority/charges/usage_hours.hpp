// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a charge of cores between two instants as core-microseconds of each hour, by payer, queue and project.
// Must not know: when a charge ends, how hours are stored.
#pragma once
#include <algorithm>
#include <cstdint>

#include "libfairshare/base/time.hpp"
#include "modules/job-priority/state/state_log.hpp"

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

/// The hour of a payer as reports name it. O(depth).
UsageSlot usage_slot(const ShareTree& tree, const HourOfPayer& hour);

/// Calls take(hour, core-microseconds) once for each hour of the span: their sum is cores times length, to the digit.
/// Hours more than usage_hours_kept before the end are left out, since no file keeps them. O(hours).
template <typename Take>
void for_each_hour(const CoreSpan& span, const Take& take) {
    const std::int64_t to = micros(span.to);
    std::int64_t from = std::max(micros(span.from), to - usage_hours_kept * micros_per_hour);
    while (from < to && span.cores != 0) {
        const std::int64_t hour = floor_divide(from, micros_per_hour);
        const std::int64_t end = std::min(to, (hour + 1) * micros_per_hour);
        take(hour, span.cores * (end - from));
        from = end;
    }
}

}  // namespace weir::priority
