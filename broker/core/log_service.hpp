// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the service "log": appending, `flux dmesg` with and without following, the copy of errors on stderr.
// Must not know who logs.
// Source: flux-dmesg(1), RFC 5424.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/core/log_ring.hpp"
#include "broker/core/router.hpp"

namespace weir::broker {

class LogService {
  public:
    /// @param now seconds since the epoch on the instance's clock.
    LogService(Router& router, std::function<double()> now);
    /// Logs a message of the broker itself; severity as in syslog(3).
    void write(int severity, std::string_view text);
    /// Lines of this severity or worse are copied to stderr; 3 (errors) at start, -1: none.
    void set_stderr_severity(int severity) { stderr_severity_ = severity; }

  private:
    void append(std::string_view line);
    void dmesg(const Call& call);
    void forget(std::string_view sender);

    std::function<double()> now_;
    LogRing ring_;
    std::vector<Call> followers_;
    int stderr_severity_ = 3;
};

}  // namespace weir::broker
