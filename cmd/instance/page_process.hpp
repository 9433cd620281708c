// SPDX-License-Identifier: LGPL-3.0-only
// Owns: `weir serve` as a process beside an instance that this process started. Must not know what it serves.
#pragma once
#include <sys/types.h>

#include <string>

#include "cmd/instance/signals.hpp"
#include "libfairshare/base/result.hpp"

namespace weir::cmd {

class PageProcess {
  public:
    /// Starts this program again for the instance at `uri`, on any free port of this machine; returns when it takes
    /// connections. It gets SIGTERM when this process dies in any way. Errors: its message.
    static Result<PageProcess> start(const std::string& uri, const Signals& signals);
    PageProcess(PageProcess&& other) noexcept;
    PageProcess& operator=(PageProcess&&) = delete;
    /// Ends it and waits for its end.
    ~PageProcess();

    /// With the token.
    const std::string& url() const { return url_; }

  private:
    explicit PageProcess(pid_t pid) : pid_(pid) {}
    pid_t pid_;
    std::string url_;
};

}  // namespace weir::cmd
