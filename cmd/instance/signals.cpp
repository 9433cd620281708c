// SPDX-License-Identifier: LGPL-3.0-only
// Owns: signalfd and poll.
#include "cmd/instance/signals.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace weir::cmd {

Signals::Signals(Hangup hangup, WindowSignals window) : hangup_(hangup) {
    sigset_t set;
    sigemptyset(&set);
    for (const int number : {SIGINT, SIGTERM, SIGQUIT, SIGALRM, SIGHUP}) {
        sigaddset(&set, number);
    }
    for (const int number : {SIGWINCH, SIGTSTP, SIGCONT}) {
        if (window == WindowSignals::watched) {
            sigaddset(&set, number);
        }
    }
    sigprocmask(SIG_BLOCK, &set, &old_mask_);
    fd_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

Signals::~Signals() {
    close(fd_);
    sigprocmask(SIG_SETMASK, &old_mask_, nullptr);
}

int Signals::count() {
    signalfd_siginfo info;
    while (read(fd_, &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info))) {
        const auto number = static_cast<int>(info.ssi_signo);
        if (number == SIGWINCH || number == SIGCONT) {
            has_new_window_ = true;
            continue;
        }
        if (number == SIGTSTP) {
            is_suspend_asked_ = true;
            continue;
        }
        const bool is_reload = info.ssi_signo == SIGHUP && hangup_ == Hangup::reloads;
        has_hung_up_ = has_hung_up_ || is_reload;
        count_ += is_reload ? 0 : 1;
    }
    return count_;
}

bool Signals::take_hangup() {
    (void)count();
    return std::exchange(has_hung_up_, false);
}

bool Signals::take_redraw() {
    (void)count();
    return std::exchange(has_new_window_, false);
}

bool Signals::take_suspend() {
    (void)count();
    return std::exchange(is_suspend_asked_, false);
}

bool Signals::is_stop_asked() {
    return count() > 0;
}

bool Signals::is_end_urgent() {
    return count() > 1;
}

void Signals::let_next_end() {
    sigprocmask(SIG_SETMASK, &old_mask_, nullptr);
}

int wait_readable(const std::vector<int>& fds, Duration timeout) {
    std::vector<pollfd> polls;
    for (const int fd : fds) {
        polls.push_back({fd, POLLIN, 0});
    }
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(std::max(timeout, Duration::zero())).count();
    if (poll(polls.data(), polls.size(), static_cast<int>(std::min<std::int64_t>(ms, 1'000'000))) <= 0) {
        return -1;
    }
    for (std::size_t i = 0; i < polls.size(); ++i) {
        if (polls[i].revents != 0) {
            return static_cast<int>(i);
        }
    }
    return -1;
}

Duration monotonic_now() {
    return std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace weir::cmd
