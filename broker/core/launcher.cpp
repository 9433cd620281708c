// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a job's process tree. The launcher is the subreaper of its tasks, so that every descendant, however it
// detached, stays below it; when the broker dies it reads end of file on its control pipe (and gets SIGHUP) and kills
// them all. Must not know messages or the broker.
#include "broker/core/launcher.hpp"

#include "broker/core/pmi_exchange.hpp"
#include "broker/services/exec_gpus.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
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
constexpr int output_fd = 3;
/// Jobs of more tasks have no PMI: a connection a task would not fit into the customary 1,024 descriptors.
constexpr int pmi_tasks_max = 256;

const char* variable(const char* name, const char* otherwise) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : otherwise;
}

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
    const auto paren = stat.rfind(')');  // the name before it may contain any character
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

void close_if_open(int fd) {
    if (fd >= 0) {
        ::close(fd);
    }
}

/// \param text "7=1024 4=-1": resources as setrlimit(2) numbers them, and what is wanted of each; -1: no limit. What is
/// above the hard limit becomes that.
void apply_limits(const char* text) {
    int resource = 0;
    int length = 0;
    long long wanted = 0;
    for (; std::sscanf(text, "%d=%lld%n", &resource, &wanted, &length) == 2; text += length) {
        rlimit limit{};
        if (getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) == 0) {
            limit.rlim_cur = std::min(wanted < 0 ? RLIM_INFINITY : static_cast<rlim_t>(wanted), limit.rlim_max);
            setrlimit(static_cast<__rlimit_resource_t>(resource), &limit);
        }
    }
}

void set_gpus(int rank) {
    const std::string gpus = gpus_of_task(variable("WEIR_TASK_GPUS", ""), rank);
    unsetenv("WEIR_TASK_GPUS");
    if (!gpus.empty()) {
        setenv("CUDA_VISIBLE_DEVICES", gpus.c_str(), 1);
    }
}

/// Why a task does not run its command. `why` is 0 when it does.
struct TaskFailure {
    int why = 0;
    bool is_of_input = false;  ///< the file that it is to read cannot be opened
};

struct TaskStart {
    int rank;
    int count;
    int failure_fd;
    int pmi_fd;
    pid_t launcher;
};

/// The child's side of starting one task. Does not return; writes a TaskFailure to `failure_fd` if exec fails.
/// \param command the file to read as stdin, then program and arguments.
[[noreturn]] void become_task(const TaskStart& task, char** command, const sigset_t& mask) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    TaskFailure failure;
    if (getppid() == task.launcher) {
        pthread_sigmask(SIG_SETMASK, &mask, nullptr);
        for (const int signal : {SIGPIPE, SIGHUP, SIGINT, SIGTERM, SIGQUIT, SIGCHLD}) {
            std::signal(signal, SIG_DFL);
        }
        const std::string number = std::to_string(task.rank);
        setenv("FLUX_TASK_RANK", number.c_str(), 1);
        setenv("FLUX_TASK_LOCAL_ID", number.c_str(), 1);
        const std::string limits = variable("WEIR_JOB_LIMITS", "");
        unsetenv("WEIR_JOB_LEVEL");
        unsetenv("WEIR_JOB_LIMITS");
        set_gpus(task.rank);
        if (task.pmi_fd >= 0) {
            setenv("PMI_FD", std::to_string(task.pmi_fd).c_str(), 1);
            setenv("PMI_RANK", number.c_str(), 1);
            setenv("PMI_SIZE", std::to_string(task.count).c_str(), 1);
            fcntl(task.pmi_fd, F_SETFD, 0);
        }
        const int input_fd = ::open(command[0], O_RDONLY);
        failure.is_of_input = input_fd < 0;
        if (input_fd >= 0) {
            dup2(input_fd, 0);
            dup2(output_fd, 1);
            apply_limits(limits.c_str());
            execvp(command[1], command + 1);
        }
    }
    failure.why = errno;
    if (::write(task.failure_fd, &failure, sizeof failure) < 0) {
        _exit(126);
    }
    _exit(127);
}

class Launcher {
  public:
    explicit Launcher(int count)
        : exchange_(count, variable("FLUX_JOB_ID", "job"), std::atoi(variable("WEIR_JOB_LEVEL", "1"))) {}

    /// A job that is told to end meanwhile gets no further tasks; those that run end as those of other jobs do.
    /// \return false if a task cannot be executed, or the job must end at once; then nothing of it runs any more.
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
        for (int rank = 0; rank < count; ++rank) {
            const TaskFailure failure = start_task(rank, count, command, none);
            if (must_end_at_once_) {
                kill_all();
                return false;
            }
            if (must_end_) {
                return true;
            }
            if (failure.why != 0) {
                return give_up(rank, failure);
            }
        }
        report("started");
        return true;
    }

    void run() {
        while (reap()) {
            std::vector<pollfd> fds{{signal_fd_, POLLIN, 0}, {has_control_ ? control_fd : -1, POLLIN, 0}};
            for (const Pmi& task : pmi_) {
                fds.push_back({task.fd, POLLIN, 0});
            }
            if (poll(fds.data(), fds.size(), ranks_.empty() ? leftover_ms : -1) < 0 && errno != EINTR) {
                break;
            }
            if (fds[1].revents != 0) {
                obey();
            }
            for (std::size_t task = 0; task < pmi_.size(); ++task) {
                if (fds[task + 2].revents != 0) {
                    serve_pmi(static_cast<int>(task));
                }
            }
            if (take_signals() || !has_control_) {
                kill_all();
            }
            if (ranks_.empty()) {
                signal_all(SIGKILL);  // processes that the tasks left behind end with the job
            }
        }
    }

  private:
    static constexpr int leftover_ms = 20;  // between looks for processes that forked while they were being killed

    /// One task's connection; no descriptor once the task closed it.
    struct Pmi {
        int fd = -1;
        std::string text;  // of a line that is not whole yet
    };

    /// \return why the task does not run. Where the job must end it may not run either.
    TaskFailure start_task(int rank, int count, char** command, const sigset_t& mask) {
        int failure[2] = {-1, -1};
        int pmi[2] = {-1, -1};
        if (count <= pmi_tasks_max && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pmi) < 0) {
            return {errno};
        }
        pmi_.push_back({pmi[0], {}});
        if (pipe2(failure, O_CLOEXEC) < 0) {
            const TaskFailure failed{errno};
            close_if_open(pmi[1]);
            return failed;
        }
        const pid_t self = getpid();
        const pid_t pid = fork();
        if (pid == 0) {
            become_task({rank, count, failure[1], pmi[1], self}, command, mask);
        }
        TaskFailure failed{pid < 0 ? errno : 0};
        ::close(failure[1]);
        close_if_open(pmi[1]);
        if (pid > 0) {
            ranks_[pid] = rank;
            await_exec(failure[0], pid);
            if (!must_end() && ::read(failure[0], &failed, sizeof failed) < 0) {
                failed.why = errno;
            }
        }
        ::close(failure[0]);
        return failed;
    }

    /// Until the task runs its command or has failed to. It may wait for ever for a writer of its input: it is killed
    /// where the job is to end.
    void await_exec(int failure_fd, pid_t task) {
        for (;;) {
            pollfd fds[] = {{failure_fd, POLLIN, 0}, {signal_fd_, POLLIN, 0}, {control_fd, POLLIN, 0}};
            if (poll(fds, 3, -1) < 0 && errno != EINTR) {
                must_end_at_once_ = true;
            }
            if (fds[2].revents != 0) {
                obey();
            }
            must_end_at_once_ = take_signals() || must_end_at_once_ || !has_control_;
            if (fds[0].revents != 0) {
                return;
            }
            if (must_end()) {
                kill(task, SIGKILL);
                return;
            }
        }
    }

    bool must_end() const { return must_end_ || must_end_at_once_; }

    void close_pmi(int task) {
        ::close(pmi_[static_cast<std::size_t>(task)].fd);
        pmi_[static_cast<std::size_t>(task)] = {};
    }

    /// A task that sends other lines than PMI, or does not read, loses its connection.
    void serve_pmi(int task) {
        Pmi& from = pmi_[static_cast<std::size_t>(task)];
        char bytes[4096];
        const ssize_t n = recv(from.fd, bytes, sizeof bytes, MSG_DONTWAIT);
        if (n <= 0) {
            if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
                close_pmi(task);
            }
            return;
        }
        from.text.append(bytes, static_cast<std::size_t>(n));
        for (auto end = from.text.find('\n'); end != std::string::npos; end = from.text.find('\n')) {
            const auto answers = exchange_.take(task, from.text.substr(0, end));
            from.text.erase(0, end + 1);
            for (const auto& [to, line] : answers) {
                const int fd = pmi_[static_cast<std::size_t>(to)].fd;
                if (fd >= 0 && ::send(fd, line.data(), line.size(), MSG_DONTWAIT | MSG_NOSIGNAL) !=
                                   static_cast<ssize_t>(line.size())) {
                    close_pmi(to);
                }
            }
        }
        if (from.text.size() > PmiExchange::line_bytes_max) {
            close_pmi(task);
        }
    }

    bool give_up(int rank, const TaskFailure& failure) {
        kill_all();
        report((failure.is_of_input ? "unreadable " : "failed ") + std::to_string(rank) + " " +
               std::to_string(failure.why));
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

    /// Delivers the signals that the broker sends. At end of file the broker is gone. A job that is told to end starts
    /// no further tasks.
    void obey() {
        unsigned char signals[64];
        const ssize_t n = ::read(control_fd, signals, sizeof signals);
        for (ssize_t i = 0; i < n; ++i) {
            must_end_ = must_end_ || signals[i] == SIGKILL || signals[i] == SIGTERM || signals[i] == SIGALRM;
            if (signals[i] == SIGKILL) {
                signal_all(SIGKILL);
            } else {
                signal_groups(signals[i]);
            }
        }
        has_control_ = n > 0 || (n < 0 && errno == EINTR);
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
    bool has_control_ = true;
    // Looked at while tasks are being started.
    bool must_end_ = false;          // the broker has asked for it
    bool must_end_at_once_ = false;  // it is gone, or a signal came
    std::map<pid_t, int> ranks_;     // running tasks
    std::vector<Pmi> pmi_;           // by task
    PmiExchange exchange_;
};

}  // namespace

int launch_tasks(int argc, char** argv) {
    if (argc < 4) {
        std::fprintf(stderr, "usage: weir-broker --launch-task PARENT_PID NTASKS INPUT COMMAND [ARGUMENT...]\n");
        return 2;
    }
    const pid_t parent = std::atoi(argv[0]);
    const int count = std::atoi(argv[1]);
    prctl(PR_SET_PDEATHSIG, SIGHUP);
    if (getppid() != parent) {  // the broker died before prctl() took effect
        return 1;
    }
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    fcntl(control_fd, F_SETFD, FD_CLOEXEC);
    fcntl(report_fd, F_SETFD, FD_CLOEXEC);
    fcntl(output_fd, F_SETFD, FD_CLOEXEC);
    setsid();
    std::signal(SIGPIPE, SIG_IGN);  // a broken report pipe must not end the launcher before its tasks
    Launcher launcher(count);
    if (launcher.start(count, argv + 2)) {  // INPUT COMMAND...
        launcher.run();
    }
    return 0;
}

}  // namespace weir::broker
