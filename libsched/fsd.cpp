// SPDX-License-Identifier: LGPL-3.0-only
// Owns: RFC 23 in both directions.
#include "libsched/fsd.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace weir {
namespace {

constexpr double seconds_max = 9.2e12;  // what int64 microseconds hold

Error bad_duration(std::string_view text, const char* why) {
    return Error{std::errc::invalid_argument, "\"" + std::string(text.substr(0, 64)) + "\" is not a duration: " + why +
                                                  "; write a number and ms, s, m, h or d, like 90s or 1.5h"};
}

}  // namespace

Result<Duration> duration_from_number(double seconds) {
    if (!(seconds >= 0.)) {
        return Error{std::errc::invalid_argument, "a duration is a number of seconds that is not negative"};
    }
    if (seconds > seconds_max) {
        return std::isinf(seconds) ? Result<Duration>(Duration::max())
                                   : Result<Duration>(Error{std::errc::result_out_of_range,
                                                            "a duration is at most 9200000000000 seconds"});
    }
    return duration_from_seconds(seconds);
}

Result<Duration> parse_fsd(std::string_view text) {
    if (text == "infinity" || text == "inf") {
        return Duration::max();
    }
    double value = 0.;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
    if (error != std::errc{} || !std::isfinite(value)) {
        return bad_duration(text, "it must begin with a number");
    }
    if (std::signbit(value)) {
        return bad_duration(text, "it is negative");
    }
    const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
    constexpr std::array<std::pair<std::string_view, double>, 6> units{
        {{"", 1.}, {"s", 1.}, {"ms", 0.001}, {"m", 60.}, {"h", 3600.}, {"d", 86400.}}};
    for (const auto& [name, seconds] : units) {
        if (unit == name) {
            if (value * seconds > seconds_max) {
                return bad_duration(text, "it is too long");
            }
            return duration_from_seconds(value * seconds);
        }
    }
    return bad_duration(text, "the unit is not known");
}

std::string encode_fsd(Duration duration) {
    if (duration == Duration::max()) {
        return "infinity";
    }
    const std::int64_t us = duration.count();
    constexpr std::array<std::pair<std::int64_t, const char*>, 5> units{
        {{86'400'000'000, "d"}, {3'600'000'000, "h"}, {60'000'000, "m"}, {1'000'000, "s"}, {1'000, "ms"}}};
    for (const auto& [size, name] : units) {
        if (us != 0 && us % size == 0) {
            return std::to_string(us / size) + name;
        }
    }
    if (us == 0) {
        return "0s";
    }
    std::string fraction = std::to_string(us % 1'000'000 + 1'000'000).substr(1);
    fraction.erase(fraction.find_last_not_of('0') + 1);
    return std::to_string(us / 1'000'000) + "." + fraction + "s";
}

}  // namespace weir
