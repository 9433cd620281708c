// SPDX-License-Identifier: LGPL-3.0-only
// Owns: Flux Standard Duration text (RFC 23): "30s", "1.5h", "7d", "500ms", "90" (seconds).
// Must not know: what the duration is for.
#pragma once
#include <string>
#include <string_view>

#include "libfairshare/base/result.hpp"
#include "libfairshare/base/time.hpp"

namespace weir::priority {

/// Reads a duration. Units ms, s, m, h, d; none means seconds. Negative, infinite or malformed text is an error whose
/// message quotes it and gives an example.
Result<Duration> parse_duration(std::string_view text);

/// The shortest text that reads back to the same duration for whole days, hours, minutes, seconds; else seconds.
std::string format_duration(Duration duration);

}  // namespace weir::priority
