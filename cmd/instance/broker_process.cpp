// SPDX-License-Identifier: LGPL-3.0-only
// Owns: fork, exec, and the end of the process with all descendants.
#include "cmd/instance/broker_process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace weir::cmd {
namespace {

using namespace std::chrono_literals;

Error system_error(const std::string& what) {
    return Error{static_cast<std::errc>(errno), what + ": " + std::strerror(errno)};
}

std::vector<pid_t> own_children() {
    std::vector<pid_t> pids;
    std::ifstream file("/proc/self/task/" + std::to_string(getpid()) + "/children");
    for (pid_t pid = 0; file >> pid;) {
        pids.push_back(pid);
    }
    return pids;
}

/// After fork: only async-signal-safe calls.
[[noreturn]] void become_broker(const std::vector<char*>& argv, int log_fd, const sigset_t& mask, pid_t parent) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) {
        _exit(1);  // the parent died before the line above
    }
    const int null_fd = open("/dev/null", O_RDONLY);
    dup2(null_fd, 0);
    dup2(log_fd, 1);
    dup2(log_fd, 2);
    sigprocmask(SIG_SETMASK, &mask, nullptr);
    std::signal(SIGPIPE, SIG_DFL);
    execv(argv[0], argv.data());
    const char text[] = "weir: cannot execute weir-broker\n";
    (void)!write(2, text, sizeof(text) - 1);
    _exit(127);
}

}  // namespace

std::string program_folder() {
    std::error_code ignored;
    return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path().string();
}

Result<std::string> find_broker() {
    const std::string folder = program_folder();
    std::vector<std::string> places{folder + "/weir-broker", folder + "/../libexec/weir/weir-broker",
                                    folder + "/../../../bin/weir-broker"};
    const char* path = std::getenv("PATH");
    std::istringstream folders(path == nullptr ? "" : path);
    for (std::string place; std::getline(folders, place, ':');) {
        places.push_back(place + "/weir-broker");
    }
    for (const std::string& place : places) {
        if (access(place.c_str(), X_OK) == 0) {
            return std::filesystem::weakly_canonical(place).string();
        }
    }
    return Error{std::errc::no_such_file_or_directory,
                 "weir-broker was not found: neither beside weir (" + folder + ") nor in ../libexec/weir nor in PATH."};
}

std::string plugin_folder() {
    const auto broker = find_broker();
    const std::filesystem::path bin = broker ? std::filesystem::path(*broker).parent_path().string() : program_folder();
    std::error_code ignored;
    const std::string installed = std::string("../") + WEIR_LIBDIR + "/flux/job-manager/plugins";
    for (const std::string& place :
         {installed, std::string("../lib/flux/job-manager/plugins"), "../../" + installed.substr(3),
          std::string("../../lib/flux/job-manager/plugins")}) {
        if (std::filesystem::exists(bin / place / "job-priority-tap.so", ignored)) {
            return (bin / place).lexically_normal().string();
        }
    }
    return (bin / installed).lexically_normal().string();
}

Result<BrokerProcess> BrokerProcess::start(std::vector<std::string> words, const std::string& log_path,
                                           const Signals& signals) {
    int ready[2];
    if (pipe2(ready, O_CLOEXEC) < 0) {
        return system_error("pipe");
    }
    LogTail log(log_path);  // from here on this broker writes it
    const int log_fd = open(log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (log_fd < 0) {
        close(ready[0]);
        close(ready[1]);
        return system_error(log_path);
    }
    fcntl(ready[1], F_SETFD, 0);
    words.insert(words.end(), {"--ready-fd", std::to_string(ready[1])});
    std::vector<char*> argv;
    for (std::string& word : words) {
        argv.push_back(word.data());
    }
    argv.push_back(nullptr);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    const pid_t self = getpid();
    const pid_t pid = fork();
    if (pid == 0) {
        become_broker(argv, log_fd, signals.old_mask(), self);
    }
    close(log_fd);
    close(ready[1]);
    if (pid < 0) {
        close(ready[0]);
        return system_error("fork");
    }
    BrokerProcess process;
    process.pid_ = pid;
    process.pidfd_ = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
    process.ready_fd_ = ready[0];
    process.log_ = std::make_unique<LogTail>(std::move(log));
    return process;
}

BrokerProcess::BrokerProcess(BrokerProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      pidfd_(std::exchange(other.pidfd_, -1)),
      ready_fd_(std::exchange(other.ready_fd_, -1)),
      status_(other.status_),
      is_reaped_(other.is_reaped_),
      log_(std::move(other.log_)),
      said_(std::move(other.said_)) {}

BrokerProcess::~BrokerProcess() {
    if (pid_ > 0 && !is_reaped_) {
        kill(pid_, SIGKILL);
        reap();
        end_orphans(1s);
    }
    for (const int fd : {pidfd_, ready_fd_}) {
        if (fd >= 0) {
            close(fd);
        }
    }
}

bool BrokerProcess::has_ended() const {
    return is_reaped_ || wait_readable({pidfd_}, 0s) == 0;
}

int BrokerProcess::reap() {
    if (!is_reaped_ && pid_ > 0) {
        while (waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
        }
        is_reaped_ = true;
    }
    return status_;
}

std::vector<LogLine> BrokerProcess::log() {
    std::vector<LogLine> added;
    for (const std::string& line : log_->lines()) {
        const auto parsed = parse_file_line(line);
        added.push_back(parsed.value_or(LogLine{0, 3, "", line}));  // what it wrote to its standard error
        if (added.back().severity <= 3) {
            said_.push_back((added.back().app.empty() ? "" : added.back().app + ": ") + added.back().text);
        }
    }
    if (said_.size() > words_max) {
        said_.erase(said_.begin(), said_.end() - words_max);
    }
    return added;
}

std::string BrokerProcess::last_words() {
    (void)log();
    std::string text;
    for (const std::string& line : said_) {
        text += (text.empty() ? "" : "\n") + line;
    }
    return text;
}

bool BrokerProcess::was_shut_down() {
    const int status = reap();
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::string BrokerProcess::end_text() {
    const int status = reap();
    const std::string how = WIFSIGNALED(status) ? "killed by signal " + std::to_string(WTERMSIG(status))
                                                : "exit code " + std::to_string(WEXITSTATUS(status));
    const std::string words = last_words();
    return words.empty() ? how : how + "\n" + words;
}

Result<std::string> BrokerProcess::wait_ready(Signals& signals, Duration timeout) {
    std::string text;
    const Duration deadline = monotonic_now() + timeout;
    while (text.find('\n') == std::string::npos) {
        const int event = wait_readable({ready_fd_, pidfd_, signals.fd()}, deadline - monotonic_now());
        if (event == 0) {
            char buffer[512];
            const ssize_t count = read(ready_fd_, buffer, sizeof(buffer));
            if (count > 0) {
                text.append(buffer, static_cast<std::size_t>(count));
                continue;
            }
            (void)wait_readable({pidfd_}, 5s);  // the descriptor was closed: the broker is ending
        }
        if (event == 2) {
            if (signals.is_stop_asked()) {
                return Error{std::errc::interrupted, "interrupted"};
            }
            continue;  // a hangup: the caller handles it
        }
        const std::string words = last_words();
        if (event == -1) {
            return Error{std::errc::timed_out, "weir-broker did not become ready. Its output:\n" + words};
        }
        return Error{std::errc::io_error, words.empty() ? "weir-broker ended without a message" : words};
    }
    return text.substr(0, text.find('\n'));
}

int BrokerProcess::stop(Signals& signals, Duration patience) {
    if (pid_ <= 0 || is_reaped_) {
        return status_;
    }
    kill(pid_, SIGTERM);
    const Duration deadline = monotonic_now() + patience;
    while (!has_ended()) {
        if (monotonic_now() >= deadline || signals.is_end_urgent()) {
            kill(pid_, SIGKILL);
            break;
        }
        (void)wait_readable({pidfd_, signals.fd()}, deadline - monotonic_now());
    }
    reap();
    end_orphans(3s);
    return status_;
}

int end_orphans(Duration patience) {
    const std::vector<pid_t> orphans = own_children();
    for (const pid_t pid : orphans) {
        kill(pid, SIGTERM);
    }
    const Duration deadline = monotonic_now() + patience;
    for (const pid_t pid : orphans) {
        const int fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
        if (fd < 0 || wait_readable({fd}, deadline - monotonic_now()) != 0) {
            kill(pid, SIGKILL);
        }
        if (fd >= 0) {
            close(fd);
        }
        while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
        }
    }
    const int below = orphans.empty() ? 0 : end_orphans(patience);  // their children are ours now
    return static_cast<int>(orphans.size()) + below;
}

}  // namespace weir::cmd
