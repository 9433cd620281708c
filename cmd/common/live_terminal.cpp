// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the control sequences, and the signals that end a process without unwinding it.
#include "cmd/common/live_terminal.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <string_view>

namespace weir::cmd {
namespace {

constexpr std::string_view enter_sequence = "\x1b[?1049h\x1b[?25l\x1b[2J";  // alternate screen, no cursor
constexpr std::string_view leave_sequence = "\x1b[?25h\x1b[?1049l";
/// The signals that a live command does not handle itself.
constexpr int fatal_signals[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU};

/// The data of the signal handler, which cannot get arguments. Written before the handlers are set.
struct Restoration {
    std::atomic<bool> is_due{false};
    int keys = -1;
    int out = -1;
    termios before{};
};
Restoration restoration;

void write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t count = write(fd, text.data(), text.size());
        if (count <= 0) {
            return;
        }
        text.remove_prefix(static_cast<std::size_t>(count));
    }
}

void restore() {
    if (restoration.is_due.exchange(false)) {
        write_all(restoration.out, leave_sequence);
        if (restoration.keys >= 0) {
            tcsetattr(restoration.keys, TCSADRAIN, &restoration.before);
        }
    }
}

void on_fatal(int number) {
    restore();
    std::signal(number, SIG_DFL);
    std::raise(number);
}

}  // namespace

LiveTerminal::LiveTerminal(int keys, int out) : keys_(keys), out_(out) {
    if (keys_ >= 0 && tcgetattr(keys_, &before_) != 0) {
        keys_ = -1;
    }
    for (const int number : fatal_signals) {
        std::signal(number, on_fatal);
    }
    enter();
}

LiveTerminal::~LiveTerminal() {
    leave();
    for (const int number : fatal_signals) {
        std::signal(number, SIG_DFL);
    }
}

void LiveTerminal::enter() {
    restoration.keys = keys_;
    restoration.out = out_;
    restoration.before = before_;
    restoration.is_due = true;
    if (keys_ >= 0) {
        termios raw = before_;
        raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);  // Ctrl-C and Ctrl-Z stay signals
        raw.c_cc[VMIN] = 1;
        raw.c_cc[VTIME] = 0;
        tcsetattr(keys_, TCSADRAIN, &raw);
    }
    write_all(out_, enter_sequence);
    drawn_.clear();
    is_entered_ = true;
}

void LiveTerminal::leave() {
    if (is_entered_) {
        restore();
        is_entered_ = false;
    }
}

void LiveTerminal::draw(const std::vector<std::string>& lines) {
    std::string text;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (i >= drawn_.size() || drawn_[i] != lines[i]) {
            text += "\x1b[" + std::to_string(i + 1) + ";1H" + lines[i] + "\x1b[K";
        }
    }
    if (lines.size() < drawn_.size()) {
        text += "\x1b[" + std::to_string(lines.size() + 1) + ";1H\x1b[J";
    }
    write_all(out_, text);
    drawn_ = lines;
}

}  // namespace weir::cmd
