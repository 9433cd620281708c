// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the times of a report as people write them, and the hours, days or months that it is cut into, in this
// machine's time zone. Must not know what is reported.
#pragma once
#include <string>
#include <vector>

#include "libfairshare/base/result.hpp"

namespace weir::cmd {

/// Unix seconds of "2026-11-01", "2026-11", "2026-11-01 10:00" or with "T" and seconds, "now", "today" (its midnight),
/// or a time ago: "7d", "-7d". Errors: EINVAL with a sentence that says what is understood.
Result<double> report_time(const std::string& text, double now);

/// Where a report begins whose hours are stored by UTC: as report_time(), but the full hour of a date, a month or today
/// is rounded up where the zone is off by part of an hour. There a day begins late and the one before ends late, so
/// that reports of adjacent days share no hour.
Result<double> report_begin(const std::string& text, double now);

enum class Period { whole, hour, day, month };

/// Where the parts of [since, until) begin, and at the end `until`: `since` first, then each beginning of a period
/// after it. Days have 23 or 25 hours where the clock changes. Two times at least; nothing where until <= since.
std::vector<double> report_edges(double since, double until, Period period);

/// The part that begins there: "2026-11-01 10:00", "2026-11-01", "2026-11"; empty for `whole`.
std::string period_name(double begin, Period period);

}  // namespace weir::cmd
