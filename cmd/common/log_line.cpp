// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the two forms of log_line.hpp.
#include "cmd/common/log_line.hpp"

#include <array>
#include <charconv>
#include <cstdio>
#include <ctime>

namespace weir::cmd {
namespace {

constexpr std::array names{"emerg", "alert", "crit", "err", "warning", "notice", "info", "debug"};

/// Cuts the text up to the next blank off.
std::string_view take_word(std::string_view& text) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return word;
}

/// "2026-01-31T12:00:00.123456Z"; 0 for what is none.
double parse_time(std::string_view text) {
    std::tm parts{};
    int read = 0;
    const std::string copy(text);
    if (std::sscanf(copy.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d%n", &parts.tm_year, &parts.tm_mon, &parts.tm_mday,
                    &parts.tm_hour, &parts.tm_min, &parts.tm_sec, &read) != 6) {
        return 0;
    }
    parts.tm_year -= 1900;
    parts.tm_mon -= 1;
    double fraction = 0;
    if (static_cast<std::size_t>(read) < copy.size() && copy[static_cast<std::size_t>(read)] == '.') {
        (void)std::from_chars(copy.data() + read, copy.data() + copy.size(), fraction);
    }
    return static_cast<double>(timegm(&parts)) + fraction;
}

}  // namespace

const char* severity_name(int severity) {
    return names[static_cast<std::size_t>(severity < 0 ? 0 : severity > 7 ? 7 : severity)];
}

std::optional<int> parse_severity(std::string_view name) {
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (name == names[i]) {
            return static_cast<int>(i);
        }
    }
    return name == "error" ? std::optional(3) : name == "warn" ? std::optional(4) : std::nullopt;
}

LogLine parse_ring_line(std::string_view line) {
    LogLine out;
    const std::size_t close = line.find('>');
    int priority = 0;
    const bool has_header = !line.empty() && line[0] == '<' && close != std::string_view::npos &&
                            std::from_chars(line.data() + 1, line.data() + close, priority).ptr == line.data() + close;
    if (!has_header) {
        out.text = line;
        return out;
    }
    out.severity = (priority % 8 == 0 ? priority >> 3 : priority) % 8;  // Flux writes severity << 3
    line.remove_prefix(close + 1);
    (void)take_word(line);  // version
    out.time = parse_time(take_word(line));
    (void)take_word(line);  // host
    out.app = take_word(line);
    for (int i = 0; i < 3; ++i) {  // procid, msgid, structured data
        (void)take_word(line);
    }
    out.text = line;
    return out;
}

std::optional<LogLine> parse_file_line(std::string_view line) {
    LogLine out;
    out.time = parse_time(take_word(line));
    const std::string_view source = take_word(line);  // APP.SEVERITY[0]:
    const std::size_t dot = source.rfind('.');
    const std::size_t bracket = source.rfind("[0]:");
    if (out.time == 0 || dot == std::string_view::npos || bracket == std::string_view::npos || bracket < dot) {
        return std::nullopt;
    }
    const auto severity = parse_severity(source.substr(dot + 1, bracket - dot - 1));
    if (!severity) {
        return std::nullopt;
    }
    out.severity = *severity;
    out.app = source.substr(0, dot);
    out.text = line;
    return out;
}

}  // namespace weir::cmd
