// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the calendar of resets: when a period began, when the next begins, whether usage is due for a reset. Must not
// know: usage, trees, time zones (a site configures its offset from UTC), clocks.
#pragma once
#include <optional>
#include <string_view>

#include "libfairshare/base/result.hpp"
#include "libfairshare/base/time.hpp"

namespace weir {

/// Slurm's PriorityUsageResetPeriod. A day begins at 00:00, a week on Sunday, the rest on the first of a month
/// (quarters: January, April, July, October), in the site's local time. `now`: at each start of the program.
enum class ResetPeriod { none, now, daily, weekly, monthly, quarterly, yearly };

/// "none", "now", "daily" … in any case of letters. Errors: EINVAL with the list.
Result<ResetPeriod> reset_period_named(std::string_view name);
std::string_view name_of(ResetPeriod period);
/// When that is, for people: "daily at midnight", "on the 1st of each month". Empty for `none`.
std::string_view time_of(ResetPeriod period);

/// The first boundary after `at`. utc_offset: local time minus UTC, below a day. None for `none` and `now`. O(1).
std::optional<Instant> next_reset(ResetPeriod period, Instant at, Duration utc_offset = {});
/// The last boundary not after `at`. None for `none` and `now`. O(1).
std::optional<Instant> period_start(ResetPeriod period, Instant at, Duration utc_offset = {});

/// How to handle several boundaries that passed since the last check.
enum class MissedResets {
    once,       ///< one reset, recorded at the last boundary that passed
    each_pass,  ///< as Slurm does: months, quarters and years advance one boundary at each pass, with a reset each time
};

/// The boundary to record if usage is to be reset at `now`; none while the recorded one is still current. A boundary
/// equal to `now` has passed. If the period is `now`, every call is a start of the program and returns `now`.
/// Source: Slurm 22.05.8 as run; slurmctld's priority/multifactor.
std::optional<Instant> due_reset(ResetPeriod period, Instant last_reset, Instant now, Duration utc_offset = {},
                                 MissedResets missed = MissedResets::once);

}  // namespace weir
