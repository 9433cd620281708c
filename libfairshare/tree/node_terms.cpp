// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see node_terms.hpp.
#include "libfairshare/tree/node_terms.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <tuple>

namespace weir {

namespace {

constexpr std::string_view suffixes = "+-%^";  // of TargetKind from floor on
constexpr std::uint64_t whole = 1000000;       // millionths
constexpr unsigned percent_digits = 4;         // after the point

struct DurationUnit {
    char letter;
    std::uint64_t seconds;
};
constexpr std::array<DurationUnit, 4> duration_units{{{'d', 86400}, {'h', 3600}, {'m', 60}, {'s', 1}}};

struct LimitRow {
    std::string_view key;
    enum class Form : std::uint8_t { count, duration, part } form;
};
constexpr std::array<LimitRow, limit_kinds> rows{{{"running_jobs_max", LimitRow::Form::count},
                                                  {"active_jobs_max", LimitRow::Form::count},
                                                  {"nodes_max", LimitRow::Form::count},
                                                  {"cores_max", LimitRow::Form::count},
                                                  {"wall_time_max", LimitRow::Form::duration},
                                                  {"usage_max", LimitRow::Form::duration},
                                                  {"usage_max", LimitRow::Form::part},
                                                  {"charged_max", LimitRow::Form::duration},
                                                  {"charged_max", LimitRow::Form::part}}};

std::optional<std::uint64_t> to_count(std::string_view text) {
    std::uint64_t value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_all = read.ec == std::errc{} && read.ptr == text.data() + text.size();
    // What JSON and TOML can say as an integer.
    return is_all && value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())
               ? std::optional{value}
               : std::nullopt;
}

std::optional<std::uint64_t> seconds_of_text(std::string_view text) {
    for (const DurationUnit& unit : duration_units) {
        if (text.ends_with(unit.letter)) {
            const auto count = to_count(text.substr(0, text.size() - 1));
            return count && *count <= std::numeric_limits<std::int64_t>::max() / unit.seconds
                       ? std::optional{*count * unit.seconds}
                       : std::nullopt;
        }
    }
    return std::nullopt;
}

/// "2.5%" to 25000: exact, so not by way of a double.
std::optional<std::uint64_t> to_part(std::string_view text) {
    if (!text.ends_with('%')) {
        return std::nullopt;
    }
    text.remove_suffix(1);
    const std::size_t point = text.find('.');
    std::string digits{text.substr(0, point)};
    std::string_view after = point == text.npos ? std::string_view{} : text.substr(point + 1);
    if (after.size() > percent_digits || (point != text.npos && after.empty())) {
        return std::nullopt;
    }
    digits += after;
    digits.append(percent_digits - after.size(), '0');
    const auto part = to_count(digits);
    return !text.starts_with('.') && part && *part <= whole ? part : std::nullopt;
}

std::string part_text(std::uint64_t part) {
    std::string after = std::to_string(part % 10000 + 10000).substr(1);
    after.erase(after.find_last_not_of('0') + 1);
    return std::to_string(part / 10000) + (after.empty() ? "" : "." + after) + "%";
}

std::string duration_text(std::uint64_t seconds) {
    for (const DurationUnit& unit : duration_units) {
        if (seconds % unit.seconds == 0 && seconds != 0) {
            return std::to_string(seconds / unit.seconds) + unit.letter;
        }
    }
    return "0s";
}

}  // namespace

std::string to_string(const FairShareTarget& target) {
    std::array<char, 32> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), target.value).ptr;
    std::string text{buffer.data(), end};
    if (target.kind != TargetKind::target) {
        text += suffixes[static_cast<std::size_t>(target.kind) - 1];
    }
    return text;
}

std::optional<FairShareTarget> to_target(std::string_view text) {
    FairShareTarget target;
    if (text.empty()) {
        return std::nullopt;
    }
    if (const std::size_t suffix = suffixes.find(text.back()); suffix != suffixes.npos) {
        target.kind = static_cast<TargetKind>(suffix + 1);
        text.remove_suffix(1);
    }
    const auto read = std::from_chars(text.data(), text.data() + text.size(), target.value);
    const double highest = target.kind == TargetKind::absolute_cap ? std::numeric_limits<double>::max() : 100.0;
    const bool is_number = read.ec == std::errc{} && read.ptr == text.data() + text.size();
    return is_number && !std::signbit(target.value) && target.value <= highest ? std::optional{target} : std::nullopt;
}

std::string project_error(std::string_view name) {
    constexpr std::size_t project_bytes_max = 255;
    const auto is_bad = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f || c == '"' || c == ','; };
    if (name.empty() || name.size() > project_bytes_max) {
        return "a project has 1 to 255 bytes";
    }
    return std::any_of(name.begin(), name.end(), is_bad) ? "a project has no commas, quotes and control characters"
                                                         : std::string{};
}

bool comes_before(const NodeTerm& a, const NodeTerm& b) {
    const auto key = [](const NodeTerm& term) {
        const auto* shares = std::get_if<PartitionShares>(&term);
        const auto* target = std::get_if<FairShareTarget>(&term);
        const auto* limit = std::get_if<Limit>(&term);
        return std::tuple{term.index(), std::string_view{shares != nullptr ? shares->partition : std::string_view{}},
                          target != nullptr  ? static_cast<unsigned>(target->kind)
                          : limit != nullptr ? static_cast<unsigned>(limit->kind)
                                             : 0U};
    };
    return key(a) < key(b);
}

std::string_view limit_key(LimitKind kind) {
    return rows.at(static_cast<std::size_t>(kind)).key;
}

std::string limit_text(LimitKind kind, std::uint64_t value) {
    switch (rows.at(static_cast<std::size_t>(kind)).form) {
        case LimitRow::Form::count:
            return std::to_string(value);
        case LimitRow::Form::duration:
            return duration_text(value);
        case LimitRow::Form::part:
            return part_text(value);
    }
    return {};
}

std::optional<std::pair<LimitKind, std::uint64_t>> to_limit(std::string_view key, std::string_view text) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (rows[i].key != key) {
            continue;
        }
        const auto value = rows[i].form == LimitRow::Form::count      ? to_count(text)
                           : rows[i].form == LimitRow::Form::duration ? seconds_of_text(text)
                                                                      : to_part(text);
        if (value) {
            return std::pair{static_cast<LimitKind>(i), *value};
        }
    }
    return std::nullopt;
}

}  // namespace weir
