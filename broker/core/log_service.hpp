// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the service "log": appending, `flux dmesg` with and without following, the copies on stderr and in the log
// file. Must not know the sources of lines. Source: flux-dmesg(1), RFC 5424; flux-broker-attributes(7):
// log-stderr-level, log-forward-level, log-filename.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/core/attributes.hpp"
#include "broker/core/log_file.hpp"
#include "broker/core/log_ring.hpp"
#include "broker/core/router.hpp"

namespace weir::broker {

class LogService {
  public:
    /// \param now seconds since the epoch on the instance's clock.
    LogService(Router& router, const Attributes& attributes, std::function<double()> now);
    /// Logs a message of the broker itself, a line each; severity as in syslog(3).
    void write(int severity, std::string_view text);
    /// Opens the file that log-filename names, or reopens it after a rotation. A failure is only logged.
    void open_file();
    /// How many lines were ever logged; for since().
    std::uint64_t count() const { return ring_.count(); }
    /// "job-priority: message" of each line of this severity or worse among those behind the first `count`.
    std::vector<std::string> since(std::uint64_t count, int severity) const;

  private:
    void append(std::string_view line);
    void copy_to_file(std::string_view line);
    void dmesg(const Call& call);
    void forget(std::string_view sender);

    const Attributes& attributes_;
    std::function<double()> now_;
    LogRing ring_;
    LogFile file_;
    bool has_file_failed_ = false;
    std::vector<Call> followers_;
};

}  // namespace weir::broker
