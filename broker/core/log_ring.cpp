// SPDX-License-Identifier: LGPL-3.0-only
// Owns: reading and writing of RFC 5424 lines. Must not know who reads them.
#include "broker/core/log_ring.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <optional>

namespace weir::broker {
namespace {

/// The rest of a line behind its first `fields` space-separated fields.
std::string_view skip_fields(std::string_view line, int fields) {
    for (; fields > 0; --fields) {
        const auto space = line.find(' ');
        if (space == std::string_view::npos) {
            return {};
        }
        line.remove_prefix(space + 1);
    }
    return line;
}

/// The number between the angle brackets that a header begins with.
std::optional<int> priority(std::string_view line) {
    int value = 0;
    std::size_t i = 1;
    for (; i < line.size() && line[i] >= '0' && line[i] <= '9' && value < 1000; ++i) {
        value = value * 10 + (line[i] - '0');
    }
    const bool is_header = i > 1 && i < line.size() && line[0] == '<' && line[i] == '>' && value < 64;
    return is_header ? std::optional(value) : std::nullopt;
}

}  // namespace

void LogRing::append(std::string_view line) {
    while (!line.empty() && (line.back() == '\0' || line.back() == '\n')) {
        line.remove_suffix(1);
    }
    const auto close = line.find('>');
    if (priority(line) && close != std::string_view::npos) {
        lines_.push_back("<" + std::to_string(severity(line) << 3) + std::string(line.substr(close)));
    } else {
        lines_.emplace_back(line);
    }
    if (lines_.size() > lines_max_) {
        lines_.pop_front();
    }
    ++count_;
}

int LogRing::severity(std::string_view line) {
    const int value = priority(line).value_or(6 << 3);
    return value % 8 == 0 ? value >> 3 : value % 8;
}

std::string_view LogRing::message(std::string_view line) {
    if (line.empty() || line[0] != '<') {
        return line;
    }
    return skip_fields(line, 7);  // <pri>version time host app procid msgid sd message
}

std::string_view LogRing::appname(std::string_view line) {
    if (line.empty() || line[0] != '<') {
        return {};
    }
    const std::string_view rest = skip_fields(line, 3);
    return rest.substr(0, rest.find(' '));
}

std::string_view LogRing::timestamp(std::string_view line) {
    if (line.empty() || line[0] != '<') {
        return {};
    }
    const std::string_view rest = skip_fields(line, 1);
    return rest.substr(0, rest.find(' '));
}

std::string LogRing::readable(std::string_view line) {
    static constexpr const char* names[] = {"emerg", "alert", "crit", "err", "warning", "notice", "info", "debug"};
    std::string text;
    if (priority(line)) {
        text.append(timestamp(line)).append(" ").append(appname(line)).append(".");
        text.append(names[severity(line)]).append("[0]: ").append(message(line));
    } else {
        text = line;
    }
    for (char& c : text) {
        c = static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    }
    return text;
}

std::string LogRing::format(double time, int severity, std::string_view appname, std::string_view message) {
    const double whole = std::floor(time);
    const std::time_t seconds = static_cast<std::time_t>(whole);
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    std::array<char, 32> stamp{};
    std::strftime(stamp.data(), stamp.size(), "%Y-%m-%dT%H:%M:%S", &parts);
    std::array<char, 80> head{};
    std::snprintf(head.data(), head.size(), "<%d>1 %s.%06dZ 0 ", severity << 3, stamp.data(),
                  static_cast<int>((time - whole) * 1e6));
    return std::string(head.data()).append(appname).append(" - - - ").append(message);
}

}  // namespace weir::broker
