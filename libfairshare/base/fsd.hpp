// SPDX-License-Identifier: LGPL-3.0-only
// Owns: durations as people write them: a number and a unit, "30s", "1.5h", "7d", "250ms", "infinity" (RFC 23 FSD).
// Must not know what the duration is for.
#pragma once
#include <string>
#include <string_view>

#include "libfairshare/base/result.hpp"
#include "libfairshare/base/time.hpp"

namespace weir {

/// Units ms, s, m, h, d; none means seconds. "infinity" and "inf", or both in capitals, are Duration::max(). Not
/// negative, rounded to the nearest microsecond. Errors name the text and show a right one.
Result<Duration> parse_fsd(std::string_view text);
/// The same in seconds, as jobspecs and the job-manager carry it; infinity for "infinity".
Result<double> parse_fsd_seconds(std::string_view text);
/// The same for settings of people: a number needs its unit, except 0, because programs disagree on the default unit.
/// Errors show the number with each unit.
Result<Duration> parse_fsd_with_unit(std::string_view text);
/// A number of seconds, as jobspec and R carry it; Error when it is negative, not a number, or beyond 292,000 years.
Result<Duration> duration_from_number(double seconds);
/// Exact and short: the largest unit in which it is a whole number ("90s", "2h", "1500ms"); microseconds as decimals of
/// s.
std::string encode_fsd(Duration duration);
/// For people, rounded to the two largest units: "3d 4h", "6h 12m", "4m 30s", "45s", "0s"; below a second "0.4s".
/// Negative values get a minus sign.
std::string duration_text(Duration d);

}  // namespace weir
