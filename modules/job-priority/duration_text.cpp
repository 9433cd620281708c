// SPDX-License-Identifier: LGPL-3.0-only
// Owns: RFC 23 text. See duration_text.hpp.
#include "modules/job-priority/duration_text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <system_error>
#include <utility>

namespace weir::priority {
namespace {

constexpr double seconds_max = 1e12;  // 31 688 years: far inside an int64 of microseconds

constexpr std::array<std::pair<std::string_view, double>, 6> units{
    {{"", 1.0}, {"ms", 1e-3}, {"s", 1.0}, {"m", 60.0}, {"h", 3600.0}, {"d", 86400.0}}};

Error malformed(std::string_view text) {
    return Error{std::errc::invalid_argument,
                 "'" + std::string(text) + "' is not a duration; write for example 30s, 1.5h or 7d"};
}

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
    double number = 0;
    const char* end = text.data() + text.size();
    const auto [rest, failure] = std::from_chars(text.data(), end, number);
    if (failure != std::errc{} || !std::isfinite(number) || number < 0) {
        return malformed(text);
    }
    const std::string_view suffix(rest, static_cast<std::size_t>(end - rest));
    for (const auto& [name, factor] : units) {
        if (suffix == name) {
            const double seconds = number * factor;
            return seconds > seconds_max ? Result<Duration>(malformed(text)) : duration_from_seconds(seconds);
        }
    }
    return malformed(text);
}

std::string format_duration(Duration duration) {
    constexpr std::array<std::pair<char, std::int64_t>, 4> whole{
        {{'d', 86'400'000'000}, {'h', 3'600'000'000}, {'m', 60'000'000}, {'s', 1'000'000}}};
    for (const auto& [name, length_us] : whole) {
        if (duration.count() != 0 && duration.count() % length_us == 0) {
            return std::to_string(duration.count() / length_us) + name;
        }
    }
    std::array<char, 40> buffer{};
    const auto [end, failure] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), to_seconds(duration));
    return failure == std::errc{} ? std::string(buffer.data(), end) + "s" : "0s";
}

}  // namespace weir::priority
