// SPDX-License-Identifier: LGPL-3.0-only
// Owns: durations as people write them. Must not know clocks.
// Source: RFC 23.
#pragma once
#include <optional>
#include <string_view>

namespace weir::broker {

/// "30s", "1.5h", "100ms", "7d", "2m", a bare number (seconds), "inf" or "infinity".
/// \return seconds, 0 or more; nothing if it is no duration.
std::optional<double> parse_fsd(std::string_view text);

}  // namespace weir::broker
