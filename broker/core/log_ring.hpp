// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the last messages of the broker's log and how they are written: RFC 5424 lines, one a message. Bounded; the
// oldest are dropped first. Must not know their readers. Source: RFC 5424 section 6, except the priority (flux-core
// libutil/stdlog.h); flux-dmesg(1).
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace weir::broker {

class LogRing {
  public:
    explicit LogRing(std::size_t lines_max = 1024) : lines_max_(lines_max) {}
    /// Adds a line that is in RFC 5424 form already; what does not start with <priority> is kept as it came. Flux
    /// writes the priority as severity << 3, RFC 5424 as facility << 3 | severity: both are read, Flux's is kept.
    void append(std::string_view line);
    void clear() { lines_.clear(); }
    const std::deque<std::string>& lines() const { return lines_; }
    std::uint64_t count() const { return count_; }

    /// The severity (0 emergency .. 7 debug) of a line, 6 if it has none.
    static int severity(std::string_view line);
    /// The message behind the header, for people.
    static std::string_view message(std::string_view line);
    /// The APP-NAME field, empty if the line has no header.
    static std::string_view appname(std::string_view line);
    /// The TIMESTAMP field, empty if the line has no header.
    static std::string_view timestamp(std::string_view line);
    /// For people: "2026-01-31T12:00:00.123456Z job-priority.warning[0]: message", as `flux dmesg` has it. Control
    /// characters become blanks, so that no message looks like two.
    static std::string readable(std::string_view line);
    /// Writes a line. `time` in seconds since the epoch, severity 0..7, facility user.
    static std::string format(double time, int severity, std::string_view appname, std::string_view message);

  private:
    std::size_t lines_max_;
    std::deque<std::string> lines_;
    std::uint64_t count_ = 0;
};

}  // namespace weir::broker
