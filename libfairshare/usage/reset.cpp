// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see reset.hpp.
#include "libfairshare/usage/reset.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace weir {

namespace {

using std::chrono::days;
using std::chrono::months;
using std::chrono::year_month;
using Day = std::chrono::sys_days;

constexpr std::array<std::string_view, 7> names{"none", "now", "daily", "weekly", "monthly", "quarterly", "yearly"};

Day first_of(year_month month) {
    return Day{month / std::chrono::day{1}};
}

constexpr std::array<std::string_view, 7> times{"",
                                                "at each start",
                                                "daily at midnight",
                                                "weekly, on Sunday at midnight",
                                                "on the 1st of each month",
                                                "on the 1st of January, April, July and October",
                                                "on the 1st of January"};

/// Months of one period; 0 where it counts in days.
unsigned months_of(ResetPeriod period) {
    return period == ResetPeriod::monthly     ? 1
           : period == ResetPeriod::quarterly ? 3
           : period == ResetPeriod::yearly    ? 12
                                              : 0;
}

struct Span {
    Day begin;
    Day end;
};

/// The period that holds a day of the local calendar.
Span span_of(ResetPeriod period, Day day) {
    if (const unsigned length = months_of(period); length != 0) {
        const std::chrono::year_month_day date{day};
        const unsigned month = (static_cast<unsigned>(date.month()) - 1) / length * length + 1;
        const year_month first = date.year() / std::chrono::month{month};
        return {first_of(first), first_of(first + months{length})};
    }
    const Day begin = period == ResetPeriod::weekly ? day - (std::chrono::weekday{day} - std::chrono::Sunday) : day;
    return {begin, begin + days{period == ResetPeriod::weekly ? 7 : 1}};
}

std::optional<Span> span_at(ResetPeriod period, Instant at, Duration utc_offset) {
    if (period == ResetPeriod::none || period == ResetPeriod::now) {
        return std::nullopt;
    }
    return span_of(period, Day{std::chrono::floor<days>(at.time_since_epoch() + utc_offset)});
}

Instant instant_of(Day local, Duration utc_offset) {
    return Instant{std::chrono::duration_cast<Duration>(local.time_since_epoch()) - utc_offset};
}

}  // namespace

Result<ResetPeriod> reset_period_named(std::string_view name) {
    std::string lower{name};
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    const auto found = std::find(names.begin(), names.end(), lower);
    if (found != names.end()) {
        return static_cast<ResetPeriod>(found - names.begin());
    }
    std::string list;
    for (std::string_view known : names) {
        list += (list.empty() ? "" : ", ") + std::string{known};
    }
    return Error{std::errc::invalid_argument, "unknown reset period \"" + std::string{name} + "\"; known are " + list};
}

std::string_view name_of(ResetPeriod period) {
    return names[static_cast<std::size_t>(period)];
}

std::string_view time_of(ResetPeriod period) {
    return times[static_cast<std::size_t>(period)];
}

std::optional<Instant> next_reset(ResetPeriod period, Instant at, Duration utc_offset) {
    const auto span = span_at(period, at, utc_offset);
    return span ? std::optional{instant_of(span->end, utc_offset)} : std::nullopt;
}

std::optional<Instant> period_start(ResetPeriod period, Instant at, Duration utc_offset) {
    const auto span = span_at(period, at, utc_offset);
    return span ? std::optional{instant_of(span->begin, utc_offset)} : std::nullopt;
}

std::optional<Instant> due_reset(ResetPeriod period, Instant last_reset, Instant now, Duration utc_offset,
                                 MissedResets missed) {
    if (period == ResetPeriod::now) {
        return now;
    }
    const auto next = next_reset(period, last_reset, utc_offset);
    if (!next || *next > now) {
        return std::nullopt;
    }
    return missed == MissedResets::each_pass && months_of(period) != 0 ? next : period_start(period, now, utc_offset);
}

}  // namespace weir
