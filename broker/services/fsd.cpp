// SPDX-License-Identifier: LGPL-3.0-only
// Owns: parsing of durations. Must not know clocks.
#include "broker/services/fsd.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

namespace weir::broker {

std::optional<double> parse_fsd(std::string_view text) {
    if (text == "inf" || text == "infinity") {
        return std::numeric_limits<double>::infinity();
    }
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, failed] = std::from_chars(text.data(), end, value);
    if (failed != std::errc() || !std::isfinite(value) || value < 0) {
        return std::nullopt;
    }
    const std::string_view unit(stop, static_cast<std::size_t>(end - stop));
    constexpr std::array<std::pair<std::string_view, double>, 6> UNITS{
        {{"", 1}, {"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}}};
    for (const auto& [name, seconds] : UNITS) {
        if (unit == name) {
            return value * seconds;
        }
    }
    return std::nullopt;
}

}  // namespace weir::broker
