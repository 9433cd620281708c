// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a job's process tree. The launcher is the subreaper of its tasks, so that every descendant, however it
// detached, stays below it; when the broker dies it reads end of file on its control pipe (and gets SIGHUP) and kills
// them all. Must not know messages or the broker.
#include "broker/core/launcher.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace weir::broker {
namespace {

constexpr int control_fd = 0;
constexpr int report_fd = 1;

void report(const std::string& line) {
    const std::string text = line + "\n";
    std::size_t sent = 0;
    while (sent < text.size()) {
        const ssize_t n = ::write(report_fd, text.data() + sent, text.size() - sent);
        if (n < 0 && errno != EINTR) {
            return;  // no reader is left
        }
        sent += n > 0 ? static_cast<std::size_t>(n) : 0;
    }
}

/// The parent of a process, 0 if it has ended.
pid_t parent_of(const char* pid) {
    std::FILE* file = std::fopen((std::string("/proc/") + pid + "/stat").c_str(), "re");
    if (file == nullptr) {
        return 0;
    }
    char text[1024] = {};
    const std::size_t n = std::fread(text, 1, sizeof text - 1, file);
    std::fclose(file);
    const std::string stat(text, n);
    const auto paren = stat.rfind(')');  // the name before it may hold anything
    int parent = 0;
    char state = 0;
    if (paren == std::string::npos || std::sscanf(stat.c_str() + paren + 1, " %c %d", &state, &parent) != 2) {
        return 0;
    }
    return parent;
}

/// All processes below this one. O(processes of the machine).
std::set<pid_t> descendants() {
    std::map<pid_t, std::vector<pid_t>> children;
    if (DIR* proc = opendir("/proc")) {
        while (const dirent* entry = readdir(proc)) {
            const pid_t pid = std::atoi(entry->d_name);
            const pid_t parent = pid > 0 ? parent_of(entry->d_name) : 0;
            if (parent > 0) {
                children[parent].push_back(pid);
            }
        }
        closedir(proc);
    }
    std::set<pid_t> found;
    std::vector<pid_t> todo{getpid()};
    while (!todo.empty()) {
        const pid_t at = todo.back();
        todo.pop_back();
        for (const pid_t child : children[at]) {
            if (found.insert(child).second) {
                todo.push_back(child);
            }
        }
    }
    return found;
}

void signal_all(int signal) {
    for (const pid_t pid : descendants()) {
        kill(pid, signal);
    }
}

/// The child's side of starting one task. Does not return; writes errno to `failure_fd` if exec fails.
[[noreturn]] void become_task(int rank, char** command, int failure_fd, const sigset_t& mask, pid_t launcher) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    if (getppid() == launcher) {
        pthread_sigmask(SIG_SETMASK, &mask, nullptr);
        for (const int signal : {SIGPIPE, SIGHUP, SIGINT, SIGTERM, SIGQUIT, SIGCHLD}) {
            std::signal(signal, SIG_DFL);
        }
        const std::string number = std::to_string(rank);
        setenv("FLUX_TASK_RANK", number.c_str(), 1);
        setenv("FLUX_TASK_LOCAL_ID", number.c_str(), 1);
        const int null_fd = ::open("/dev/null", O_RDONLY);
        dup2(null_fd, 0);
        dup2(2, 1);
        execvp(command[0], command);
    }
    const int why = errno;
    if (::write(failure_fd, &why, sizeof why) < 0) {
        _exit(126);
    }
    _exit(127);
}

class Launcher {
  public:
    /// \return false if a task cannot be executed; then nothing of the job runs any more.
    bool start(int count, char** command) {
        sigset_t handled;
        sigemptyset(&handled);
        for (const int signal : {SIGCHLD, SIGHUP, SIGTERM, SIGINT}) {
            sigaddset(&handled, signal);
        }
        sigset_t none;
        sigemptyset(&none);
        pthread_sigmask(SIG_SETMASK, &handled, nullptr);
        signal_fd_ = signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK);
        const pid_t self = getpid();
        for (int rank = 0; rank < count; ++rank) {
            int failure[2] = {-1, -1};
            if (pipe2(failure, O_CLOEXEC) < 0) {
                return give_up(rank, errno);
            }
            const pid_t pid = fork();
            if (pid == 0) {
                become_task(rank, command, failure[1], none, self);
            }
            const int fork_error = errno;
            ::close(failure[1]);
            int why = pid < 0 ? fork_error : 0;
            while (pid > 0 && ::read(failure[0], &why, sizeof why) < 0 && errno == EINTR) {
            }
            ::close(failure[0]);
            if (pid > 0) {
                ranks_[pid] = rank;
            }
            if (why != 0) {
                return give_up(rank, why);
            }
        }
        report("started");
        return true;
    }

    void run() {
        bool has_control = true;
        while (reap()) {
            pollfd fds[] = {{signal_fd_, POLLIN, 0}, {has_control ? control_fd : -1, POLLIN, 0}};
            if (poll(fds, 2, ranks_.empty() ? leftover_ms : -1) < 0 && errno != EINTR) {
                break;
            }
            if ((fds[1].revents & (POLLIN | POLLHUP | POLLERR)) != 0) {
                has_control = obey();
            }
            if (take_signals() || !has_control) {
                kill_all();
            }
            if (ranks_.empty()) {
                signal_all(SIGKILL);  // what the tasks left behind ends with the job
            }
        }
    }

  private:
    static constexpr int leftover_ms = 20;  // between looks for processes that forked while they were being killed

    bool give_up(int rank, int why) {
        kill_all();
        report("failed " + std::to_string(rank) + " " + std::to_string(why));
        return false;
    }

    /// Ends every descendant and waits until none is left.
    void kill_all() {
        for (;;) {
            signal_all(SIGKILL);
            if (!reap()) {
                return;
            }
            pollfd fds[] = {{signal_fd_, POLLIN, 0}};
            poll(fds, 1, leftover_ms);
            take_signals();
        }
    }

    /// Collects the dead. \return false if no child is left.
    bool reap() {
        for (;;) {
            int status = 0;
            const pid_t pid = waitpid(-1, &status, WNOHANG);
            if (pid == 0 || (pid < 0 && errno == EINTR)) {
                return true;
            }
            if (pid < 0) {
                return false;
            }
            const auto it = ranks_.find(pid);
            if (it != ranks_.end()) {
                report("exit " + std::to_string(it->second) + " " + std::to_string(status));
                ranks_.erase(it);
            }
        }
    }

    /// \return false at end of file: the broker is gone.
    bool obey() {
        unsigned char signals[64];
        const ssize_t n = ::read(control_fd, signals, sizeof signals);
        for (ssize_t i = 0; i < n; ++i) {
            if (signals[i] == SIGKILL) {
                signal_all(SIGKILL);
            } else {
                signal_groups(signals[i]);
            }
        }
        return n > 0 || (n < 0 && errno == EINTR);
    }

    /// Signals the tasks and their process groups. A process that left its group gets only SIGKILL.
    void signal_groups(int signal) {
        for (const auto& [pid, rank] : ranks_) {
            kill(-pid, signal);
        }
    }

    /// \return true if the job must end now.
    bool take_signals() {
        bool must_end = false;
        signalfd_siginfo info{};
        while (::read(signal_fd_, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
            must_end = must_end || info.ssi_signo != SIGCHLD;
        }
        return must_end;
    }

    int signal_fd_ = -1;
    std::map<pid_t, int> ranks_;  // running tasks
};

}  // namespace

int launch_tasks(int argc, char** argv) {
    if (argc < 3) {
        std::fprintf(stderr, "usage: weir-broker --launch-task PARENT_PID NTASKS COMMAND [ARGUMENT...]\n");
        return 2;
    }
    const pid_t parent = std::atoi(argv[0]);
    const int count = std::atoi(argv[1]);
    prctl(PR_SET_PDEATHSIG, SIGHUP);
    if (getppid() != parent) {  // the broker died before the kernel knew our wish
        return 1;
    }
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    fcntl(control_fd, F_SETFD, FD_CLOEXEC);
    fcntl(report_fd, F_SETFD, FD_CLOEXEC);
    setsid();
    std::signal(SIGPIPE, SIG_IGN);  // a broken report pipe must not end the launcher before its tasks
    Launcher launcher;
    if (launcher.start(count, argv + 2)) {
        launcher.run();
    }
    return 0;
}

}  // namespace weir::broker
