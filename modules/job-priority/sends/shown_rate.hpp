// SPDX-License-Identifier: LGPL-3.0-only
// Owns: how many values that are for display alone are sent a second, where push-rate is not set. Must not know a
// clock.
#pragma once
#include <algorithm>
#include <cstddef>

#include "libsched/config/settings.hpp"

namespace weir::priority {

inline constexpr double shown_rate_head = 20;
inline constexpr double shown_rate_numbers = 1000;
/// A stock Flux keeps its waiting jobs in sorted lists, in job-manager and job-list: a value costs it half a
/// millisecond and a quarter of a microsecond for each waiting job. So in a deep queue display takes a hundredth of a
/// core.
inline constexpr double shown_steps_head = 40'000;

/// Values a second.
inline double shown_rate(config::PushRule rule, std::size_t waiting) {
    return rule != config::PushRule::head
               ? shown_rate_numbers
               : std::min(shown_rate_head, shown_steps_head / static_cast<double>(std::max<std::size_t>(1, waiting)));
}

}  // namespace weir::priority
