// SPDX-License-Identifier: LGPL-3.0-only
// Owns: RFC 23 in both directions.
#include "libfairshare/base/fsd.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

namespace weir {
namespace {

constexpr double seconds_max = 9.2e12;  // what int64 microseconds hold

Error bad_duration(std::string_view text, const char* why) {
    return Error{std::errc::invalid_argument, "\"" + std::string(text.substr(0, 64)) + "\" is not a duration: " + why +
                                                  "; write a number and ms, s, m, h or d, like 90s or 1.5h"};
}

std::string unit_pair(std::int64_t big, const char* big_unit, std::int64_t small, const char* small_unit) {
    std::string text = std::to_string(big) + big_unit;
    return small == 0 ? text : text + " " + std::to_string(small) + small_unit;
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
    if (text == "infinity" || text == "inf" || text == "INFINITY" || text == "INF") {
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

Result<double> parse_fsd_seconds(std::string_view text) {
    const Result<Duration> duration = parse_fsd(text);
    if (!duration) {
        return duration.error();
    }
    return *duration == Duration::max() ? std::numeric_limits<double>::infinity() : to_seconds(*duration);
}

Result<Duration> parse_fsd_with_unit(std::string_view text) {
    const Result<Duration> duration = parse_fsd(text);
    if (!duration || *duration == Duration{} || text.find_first_not_of("0123456789.") != std::string_view::npos) {
        return duration;
    }
    const std::string number(text.substr(0, 64));
    return Error{std::errc::invalid_argument, "\"" + number + "\" has no unit; write \"" + number + "s\", \"" + number +
                                                  "m\", \"" + number + "h\" or \"" + number + "d\""};
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

std::string duration_text(Duration d) {
    if (d.count() < 0) {
        return "-" + duration_text(-d);
    }
    if (d.count() > 0 && d.count() < 950'000) {
        return "0." + std::to_string((d.count() + 50'000) / 100'000) + "s";
    }
    const std::int64_t s = (d.count() + 500'000) / 1'000'000;
    if (s < 60) {
        return std::to_string(s) + "s";
    }
    if (s < 3600) {
        return unit_pair(s / 60, "m", s % 60, "s");
    }
    const std::int64_t m = (s + 30) / 60;
    if (m < 24 * 60) {
        return unit_pair(m / 60, "h", m % 60, "m");
    }
    const std::int64_t h = (s + 1800) / 3600;
    return unit_pair(h / 24, "d", h % 24, "h");
}

}  // namespace weir
