// SPDX-License-Identifier: LGPL-3.0-only
// Owns: lines of an instance's log as values, both of the ring (RFC 5424 with Flux's priority) and of the log file.
// Pure. Must not know where they come from.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace weir::cmd {

struct LogLine {
    double time = 0;   ///< Unix seconds by the instance's clock; 0: not known
    int severity = 6;  ///< 0 emergency .. 7 debug
    std::string app;   ///< module, or "broker"
    std::string text;
};

/// A line of log.dmesg. A line without a header is text of severity info.
LogLine parse_ring_line(std::string_view line);
/// A line of the log file, "TIME APP.SEVERITY[0]: TEXT"; nullopt for other text, which a program wrote to its standard
/// error.
std::optional<LogLine> parse_file_line(std::string_view line);

/// "emerg", "alert", "crit", "err", "warning", "notice", "info", "debug".
const char* severity_name(int severity);
/// Also "error" and "warn"; nullopt for other words.
std::optional<int> parse_severity(std::string_view name);

}  // namespace weir::cmd
