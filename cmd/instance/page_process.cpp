// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see page_process.hpp.
#include "cmd/instance/page_process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>
#include <vector>

#include "libfairshare/base/json/json.hpp"

namespace weir::cmd {
namespace {

/// After fork: only async-signal-safe calls.
[[noreturn]] void become_page(const std::vector<char*>& argv, int out, const sigset_t& mask, pid_t parent) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) {
        _exit(1);  // the parent died before the line above
    }
    dup2(open("/dev/null", O_RDONLY), 0);
    dup2(out, 1);
    sigprocmask(SIG_SETMASK, &mask, nullptr);
    execv("/proc/self/exe", argv.data());
    _exit(127);
}

/// The JSON object that it prints, to its last line; shorter where it ended before.
std::string first_object(int fd) {
    std::string text;
    std::array<char, 4096> piece{};
    while (text.size() < 2 || text.compare(text.size() - 2, 2, "}\n") != 0) {
        const ssize_t size = read(fd, piece.data(), piece.size());
        if (size == 0 || (size < 0 && errno != EINTR)) {
            break;
        }
        text.append(piece.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    }
    return text;
}

}  // namespace

Result<PageProcess> PageProcess::start(const std::string& uri, const Signals& signals) {
    int out[2];
    if (pipe2(out, O_CLOEXEC) < 0) {
        return Error{static_cast<std::errc>(errno), "cannot make a pipe for the page's server"};
    }
    std::vector<std::string> words{"weir", "serve", "--json", "--port=0", "--uri", uri};
    std::vector<char*> argv;
    for (std::string& word : words) {
        argv.push_back(word.data());
    }
    argv.push_back(nullptr);
    const pid_t self = getpid();
    const pid_t pid = fork();
    if (pid == 0) {
        become_page(argv, out[1], signals.old_mask(), self);
    }
    (void)close(out[1]);
    if (pid < 0) {
        (void)close(out[0]);
        return Error{static_cast<std::errc>(errno), "cannot start the page's server"};
    }
    PageProcess process(pid);
    const auto said = Json::parse(first_object(out[0]));
    (void)close(out[0]);
    process.url_ = said ? said->string_at("url").value_or("") : "";
    if (process.url_.empty()) {
        return Error{std::errc::io_error, "the page's server did not start; see its message above"};
    }
    return process;
}

PageProcess::PageProcess(PageProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), url_(std::move(other.url_)) {}

PageProcess::~PageProcess() {
    if (pid_ > 0) {
        (void)kill(pid_, SIGTERM);
        while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
        }
    }
}

}  // namespace weir::cmd
