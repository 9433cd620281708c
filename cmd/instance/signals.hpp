// SPDX-License-Identifier: LGPL-3.0-only
// Owns: SIGINT, SIGTERM, SIGQUIT and SIGHUP, and those of a terminal's window, as a descriptor to wait for together
// with others; waiting itself.
#pragma once
#include <csignal>
#include <vector>

#include "libfairshare/base/time.hpp"

namespace weir::cmd {

/// The meaning of SIGHUP: the end, for a command in a closed terminal, or a reload.
enum class Hangup { ends, reloads };
/// Whether SIGWINCH, SIGTSTP and SIGCONT are collected, too: for a picture on a terminal.
enum class WindowSignals { ignored, watched };

/// Blocks these signals while it lives and collects them. One at a time; before any thread runs.
class Signals {
  public:
    explicit Signals(Hangup hangup = Hangup::ends, WindowSignals window = WindowSignals::ignored);
    ~Signals();
    Signals(const Signals&) = delete;
    Signals& operator=(const Signals&) = delete;
    int fd() const { return fd_; }
    /// True once a signal that asks for the end has arrived; stays true.
    bool is_stop_asked();
    /// True once a second one has arrived, which asks for an immediate end.
    bool is_end_urgent();
    /// From now on a further signal has its default effect: it ends the process. For the calling thread only.
    void let_next_end();
    /// True if SIGHUP has arrived since the last call, if it asks for a reload.
    bool take_hangup();
    /// True if the window's size changed, or the process was continued, since the last call.
    bool take_redraw();
    /// True if the user asked for a stop (Ctrl-Z) since the last call.
    bool take_suspend();
    /// The mask to restore in a forked child.
    const sigset_t& old_mask() const { return old_mask_; }

  private:
    int count();

    int fd_ = -1;
    Hangup hangup_;
    int count_ = 0;
    bool has_hung_up_ = false, has_new_window_ = false, is_suspend_asked_ = false;
    sigset_t old_mask_{};
};

/// Waits until one of `fds` is readable (negative ones are left out) or `timeout` of real time has passed.
/// Returns the index of the first that is, or -1.
int wait_readable(const std::vector<int>& fds, Duration timeout);

/// Real time that cannot step, in microseconds: for timeouts and progress.
Duration monotonic_now();

}  // namespace weir::cmd
