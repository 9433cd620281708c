// SPDX-License-Identifier: LGPL-3.0-only
// Owns: Ctrl-C and friends as something to wait for together with other descriptors; waiting itself.
#pragma once
#include <csignal>
#include <vector>

#include "libfairshare/base/time.hpp"

namespace weir::cmd {

/// What SIGHUP asks for: the end, as of a command that nobody watches any more, or a reload.
enum class Hangup { ends, reloads };

/// Blocks SIGINT, SIGTERM, SIGQUIT and SIGHUP while it lives and collects them. One at a time; before any thread runs.
class Signals {
  public:
    explicit Signals(Hangup hangup = Hangup::ends);
    ~Signals();
    Signals(const Signals&) = delete;
    Signals& operator=(const Signals&) = delete;
    int fd() const { return fd_; }
    /// True once one that asks for the end has come; stays true.
    bool is_stop_asked();
    /// How many of those have come: the second one is impatient.
    int count();
    /// From now on a further one does what it does by default: it ends the process. Of the calling thread alone.
    void let_next_end();
    /// True if SIGHUP has come since the last call, where it asks for a reload.
    bool take_hangup();
    /// The mask to restore in a forked child.
    const sigset_t& old_mask() const { return old_mask_; }

  private:
    int fd_ = -1;
    Hangup hangup_;
    int count_ = 0;
    bool has_hung_up_ = false;
    sigset_t old_mask_{};
};

/// Waits until one of `fds` is readable (negative ones are left out) or `timeout` of real time has passed.
/// Returns the index of the first that is, or -1.
int wait_readable(const std::vector<int>& fds, Duration timeout);

/// Real time that cannot step, in microseconds: for timeouts and progress.
Duration monotonic_now();

}  // namespace weir::cmd
