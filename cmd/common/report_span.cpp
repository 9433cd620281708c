// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see report_span.hpp.
#include "cmd/common/report_span.hpp"

#include <cmath>
#include <cstdio>
#include <ctime>

#include "cmd/common/text.hpp"

namespace weir::cmd {
namespace {

std::tm local_parts(double unix_seconds) {
    const auto seconds = static_cast<std::time_t>(unix_seconds);
    std::tm parts{};
    localtime_r(&seconds, &parts);
    return parts;
}

/// mktime() knows whether summer time holds then, and takes the 32nd for the 1st of the next month.
double seconds_of(std::tm parts) {
    parts.tm_isdst = -1;
    return static_cast<double>(std::mktime(&parts));
}

double midnight(double at) {
    std::tm parts = local_parts(at);
    parts.tm_hour = parts.tm_min = parts.tm_sec = 0;
    return seconds_of(parts);
}

/// A date as written; nothing if it is none, also where the month has no such day.
Result<double> written_date(const std::string& text) {
    std::tm parts{};
    parts.tm_mday = 1;
    int year = 0;
    int used = 0;
    const char* const all = text.c_str();
    const auto is_whole = [&] { return used != 0 && static_cast<std::size_t>(used) == text.size(); };
    int count = std::sscanf(all, "%4d-%2d%n", &year, &parts.tm_mon, &used);
    if (count == 2 && !is_whole()) {
        count = std::sscanf(all, "%4d-%2d-%2d%n", &year, &parts.tm_mon, &parts.tm_mday, &used);
        if (count == 3 && !is_whole()) {
            char apart = 0;
            used = 0;
            std::sscanf(all, "%4d-%2d-%2d%c%2d:%2d%n", &year, &parts.tm_mon, &parts.tm_mday, &apart, &parts.tm_hour,
                        &parts.tm_min, &used);
            if (!is_whole()) {
                std::sscanf(all, "%4d-%2d-%2d%c%2d:%2d:%2d%n", &year, &parts.tm_mon, &parts.tm_mday, &apart,
                            &parts.tm_hour, &parts.tm_min, &parts.tm_sec, &used);
            }
            used = apart == ' ' || apart == 'T' ? used : 0;
        }
    }
    parts.tm_year = year - 1900;
    parts.tm_mon -= 1;
    const std::tm wanted = parts;
    const double seconds = seconds_of(parts);
    const std::tm got = local_parts(seconds);
    if (!is_whole() || year < 1970 || got.tm_mon != wanted.tm_mon || got.tm_mday != wanted.tm_mday ||
        wanted.tm_hour > 23 || wanted.tm_min > 59 || wanted.tm_sec > 59) {
        return Error{std::errc::invalid_argument, "no date"};
    }
    return seconds;
}

/// The next beginning of a period after `at`.
double next_begin(double at, Period period) {
    if (period == Period::hour) {
        return (std::floor(at / 3600) + 1) * 3600;
    }
    std::tm parts = local_parts(at);
    parts.tm_hour = parts.tm_min = parts.tm_sec = 0;
    if (period == Period::month) {
        parts.tm_mday = 1;
        parts.tm_mon += 1;
    } else {
        parts.tm_mday += 1;
    }
    return seconds_of(parts);
}

}  // namespace

Result<double> report_time(const std::string& text, double now) {
    if (text == "now") {
        return now;
    }
    if (text == "today") {
        return midnight(now);
    }
    if (const auto date = written_date(text)) {
        return *date;
    }
    if (const auto ago = parse_duration(text.compare(0, 1, "-") == 0 ? text.substr(1) : text)) {
        return now - to_seconds(*ago);
    }
    return Error{std::errc::invalid_argument,
                 "\"" + printable(text) +
                     "\" is no time. Write a date (2026-11-01), a month (2026-11), a date and an hour "
                     "(2026-11-01T10:00), today, now, or a time ago (7d, 12h)."};
}

Result<double> report_begin(const std::string& text, double now) {
    const auto at = report_time(text, now);
    if (!at || !(text == "today" || written_date(text))) {
        return at;
    }
    const std::tm parts = local_parts(*at);
    const bool is_full_hour = parts.tm_min == 0 && parts.tm_sec == 0;
    return is_full_hour ? std::ceil(*at / 3600) * 3600 : *at;
}

std::vector<double> report_edges(double since, double until, Period period) {
    std::vector<double> edges;
    if (!(since < until)) {
        return edges;
    }
    edges.push_back(since);
    for (double at = period == Period::whole ? until : next_begin(since, period); at < until;
         at = next_begin(at, period)) {
        edges.push_back(at);
    }
    edges.push_back(until);
    return edges;
}

std::string period_name(double begin, Period period) {
    if (period == Period::whole) {
        return {};
    }
    const std::tm parts = local_parts(begin);
    char text[32] = "";
    std::strftime(text, sizeof(text),
                  period == Period::hour  ? "%Y-%m-%d %H:%M"
                  : period == Period::day ? "%Y-%m-%d"
                                          : "%Y-%m",
                  &parts);
    return text;
}

}  // namespace weir::cmd
