// SPDX-License-Identifier: LGPL-3.0-only
// Owns: starting launchers, reading their reports, ending them. A launcher is done when it has exited and its report
// pipe is at end of file. Must not know jobspecs or messages.
#include "broker/services/exec_process.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>

#include "libfairshare/base/wait_status.hpp"

namespace weir::broker {

int status_of_failure(const LaunchEnd& end) {
    constexpr int exit_no_input = 1, exit_not_executable = 126, exit_not_found = 127;
    if (!end.unreadable.empty()) {
        return exit_no_input << 8;
    }
    return (end.failed_errno == ENOENT ? exit_not_found : exit_not_executable) << 8;
}

std::string words_of_failure(const LaunchEnd& end) {
    char host[HOST_NAME_MAX + 1] = {};
    gethostname(host, sizeof host - 1);
    const std::string what = end.unreadable.empty()
                                 ? " (host " + std::string(host) + "): start failed: " + end.failed_program
                                 : " cannot read its input " + end.unreadable;
    return "task " + std::to_string(end.failed_task) + what + ": " + std::strerror(end.failed_errno);
}

/// One launcher: its process, its control and its report pipe. Freed when libuv has closed all three.
class Process {
  public:
    Process(ProcessPool& pool, flux_jobid_t id) : pool_(pool), id_(id) {
        uv_pipe_init(&pool.loop_, &control_, 0);
        uv_pipe_init(&pool.loop_, &report_, 0);
        process_.data = control_.data = report_.data = this;
    }

    int spawn(const LaunchRequest& request) {
        task_count_ = request.task_count;
        program_ = request.command.front();
        input_ = request.input;
        std::vector<std::string> words{"weir-broker", "--launch-task", std::to_string(getpid()),
                                       std::to_string(request.task_count),
                                       request.input.empty() ? "/dev/null" : request.input};
        words.insert(words.end(), request.command.begin(), request.command.end());
        std::vector<char*> argv;
        for (std::string& word : words) {
            argv.push_back(word.data());
        }
        argv.push_back(nullptr);
        std::vector<char*> env;
        for (const std::string& variable : request.environment) {
            env.push_back(const_cast<char*>(variable.c_str()));
        }
        env.push_back(nullptr);
        uv_stdio_container_t stdio[4];
        stdio[0].flags = static_cast<uv_stdio_flags>(UV_CREATE_PIPE | UV_READABLE_PIPE);
        stdio[0].data.stream = reinterpret_cast<uv_stream_t*>(&control_);
        stdio[1].flags = static_cast<uv_stdio_flags>(UV_CREATE_PIPE | UV_WRITABLE_PIPE);
        stdio[1].data.stream = reinterpret_cast<uv_stream_t*>(&report_);
        stdio[2].flags = UV_INHERIT_FD;
        stdio[2].data.fd = request.error_fd;
        stdio[3].flags = UV_INHERIT_FD;
        stdio[3].data.fd = request.output_fd;
        uv_process_options_t options{};
        options.file = pool_.launcher_.c_str();
        options.args = argv.data();
        options.env = env.data();
        options.cwd = request.cwd.empty() ? nullptr : request.cwd.c_str();
        options.stdio_count = 4;
        options.stdio = stdio;
        options.exit_cb = [](uv_process_t* p, std::int64_t code, int signal) {
            static_cast<Process*>(p->data)->on_exit(code, signal);
        };
        const int rc = uv_spawn(&pool_.loop_, &process_, &options);
        if (rc == 0) {
            const auto reserve = [](uv_handle_t* handle, std::size_t, uv_buf_t* buffer) {
                Process& self = *static_cast<Process*>(handle->data);
                *buffer = uv_buf_init(self.piece_, sizeof self.piece_);
            };
            uv_read_start(reinterpret_cast<uv_stream_t*>(&report_), reserve,
                          [](uv_stream_t* stream, ssize_t n, const uv_buf_t* b) {
                              static_cast<Process*>(stream->data)->on_report(n, b->base);
                          });
        }
        return rc;
    }

    /// Signals that do not fit the pipe now are sent later: the last one of each kind, and none before SIGKILL.
    void signal(int number) {
        const char byte = static_cast<char>(number);
        if (number == SIGKILL) {
            waiting_.clear();
        } else {
            std::erase(waiting_, byte);
        }
        waiting_.push_back(byte);
        send_signals();
        if (number == SIGKILL && !has_exited_ && process_.pid > 0) {
            ::kill(process_.pid, SIGCONT);  // a launcher that was stopped would not read it
        }
    }

    void close() {
        const auto closed = [](uv_handle_t* handle) {
            Process& self = *static_cast<Process*>(handle->data);
            if (++self.closed_count_ == 3) {
                self.pool_.on_closed(self);
            }
        };
        uv_close(reinterpret_cast<uv_handle_t*>(&process_), closed);
        uv_close(reinterpret_cast<uv_handle_t*>(&control_), closed);
        uv_close(reinterpret_cast<uv_handle_t*>(&report_), closed);
    }

    flux_jobid_t id() const { return id_; }
    const LaunchEnd& end() const { return end_; }

  private:
    void send_signals() {
        if (is_sending_ || waiting_.empty()) {
            return;
        }
        sending_ = std::exchange(waiting_, {});
        uv_buf_t buffer = uv_buf_init(sending_.data(), static_cast<unsigned>(sending_.size()));
        write_.data = this;
        const auto sent = [](uv_write_t* write, int status) {
            Process& self = *static_cast<Process*>(write->data);
            self.is_sending_ = false;
            if (status == 0) {
                self.send_signals();
            }
        };
        is_sending_ = uv_write(&write_, reinterpret_cast<uv_stream_t*>(&control_), &buffer, 1, sent) == 0;
    }

    void on_exit(std::int64_t code, int signal) {
        has_exited_ = true;
        exit_status_ = signal != 0 ? signal : static_cast<int>(code) << 8;
        close_if_done();
    }

    void on_report(ssize_t n, const char* bytes) {
        if (n < 0) {
            is_at_end_ = true;
            uv_read_stop(reinterpret_cast<uv_stream_t*>(&report_));
            close_if_done();
            return;
        }
        text_.append(bytes, static_cast<std::size_t>(n));
        for (auto newline = text_.find('\n'); newline != std::string::npos; newline = text_.find('\n')) {
            take_line(text_.substr(0, newline));
            text_.erase(0, newline + 1);
        }
    }

    void take_line(const std::string& line) {
        int rank = 0;
        int value = 0;
        if (line == "started") {
            pool_.started_(id_);
        } else if (std::sscanf(line.c_str(), "exit %d %d", &rank, &value) == 2) {
            reported_ends_ += 1;
            end_.status = std::max(end_.status, status_of_shell(value));
        } else if (std::sscanf(line.c_str(), "failed %d %d", &rank, &value) == 2) {
            end_.failed_task = static_cast<std::uint32_t>(rank);
            end_.failed_errno = value;
            end_.failed_program = program_;
        } else if (std::sscanf(line.c_str(), "unreadable %d %d", &rank, &value) == 2) {
            end_.failed_task = static_cast<std::uint32_t>(rank);
            end_.failed_errno = value;
            end_.unreadable = input_;
        }
    }

    /// A launcher that was killed with its tasks has reported no end: its own wait status then counts for the tasks.
    void close_if_done() {
        if (has_exited_ && is_at_end_) {
            if (reported_ends_ < task_count_ && end_.failed_errno == 0) {
                end_.status = std::max(end_.status, exit_status_);
            }
            close();
        }
    }

    ProcessPool& pool_;
    flux_jobid_t id_;
    uv_process_t process_{};
    uv_pipe_t control_{};
    uv_pipe_t report_{};
    uv_write_t write_{};
    std::string waiting_;  // signals, one byte each, at most one of a kind
    std::string sending_;
    bool is_sending_ = false;
    char piece_[4096];
    std::string text_;
    LaunchEnd end_;
    std::uint32_t task_count_ = 0;
    std::string program_;
    std::string input_;
    std::uint32_t reported_ends_ = 0;
    int exit_status_ = 0;  ///< of the launcher itself
    bool has_exited_ = false;
    bool is_at_end_ = false;
    int closed_count_ = 0;
};

ProcessPool::ProcessPool(flux_t* h, std::string launcher, Started started, Ended ended)
    : h_(h), launcher_(std::move(launcher)), started_(std::move(started)), ended_(std::move(ended)) {
    uv_loop_init(&loop_);
    watcher_.reset(flux_fd_watcher_create(flux_get_reactor(h), uv_backend_fd(&loop_), FLUX_POLLIN, on_readable, this));
    flux_watcher_start(watcher_.get());
}

ProcessPool::~ProcessPool() {
    end_all();
    watcher_.reset();
    uv_run(&loop_, UV_RUN_NOWAIT);
    uv_loop_close(&loop_);
}

void ProcessPool::end_all() {
    ended_ = [](flux_jobid_t, const LaunchEnd&) {};
    started_ = [](flux_jobid_t) {};
    for (auto& [id, process] : processes_) {
        process->signal(SIGTERM);
    }
    uv_timer_t deadline;
    uv_timer_init(&loop_, &deadline);
    deadline.data = this;
    const auto kill_all = [](uv_timer_t* timer) {
        for (auto& [id, process] : static_cast<ProcessPool*>(timer->data)->processes_) {
            process->signal(SIGKILL);
        }
    };
    uv_timer_start(&deadline, kill_all, static_cast<std::uint64_t>(grace_s_ * 1000), 0);
    while (!processes_.empty()) {
        uv_run(&loop_, UV_RUN_ONCE);
    }
    uv_close(reinterpret_cast<uv_handle_t*>(&deadline), nullptr);
    uv_run(&loop_, UV_RUN_NOWAIT);
}

/// libuv registers new watchers with the kernel only inside uv_run, so every change is followed by a turn.
void ProcessPool::pump() {
    if (!is_pumping_) {
        is_pumping_ = true;
        uv_run(&loop_, UV_RUN_NOWAIT);
        is_pumping_ = false;
    }
}

void ProcessPool::on_readable(flux_reactor_t*, flux_watcher_t*, int, void* arg) {
    ProcessPool& self = *static_cast<ProcessPool*>(arg);
    guarded(self.h_, [&self] { self.pump(); });
}

Status ProcessPool::launch(flux_jobid_t id, const LaunchRequest& request) {
    auto process = std::make_unique<Process>(*this, id);
    const int rc = process->spawn(request);
    Process* const raw = process.get();
    processes_[id] = std::move(process);
    if (rc < 0) {
        const std::string where = request.cwd.empty() ? "." : request.cwd;
        refused_.insert(id);
        raw->close();
        pump();
        return Error{static_cast<std::errc>(-rc),
                     "cannot start a process in directory " + where + ": " + uv_strerror(rc)};
    }
    pump();
    return Done{};
}

void ProcessPool::kill(flux_jobid_t id, int signal) {
    const auto it = processes_.find(id);
    if (it != processes_.end()) {
        it->second->signal(signal);
        pump();
    }
}

void ProcessPool::on_closed(Process& process) {
    const flux_jobid_t id = process.id();
    const auto closed = processes_.extract(id);  // the process lives until its end is told
    if (refused_.erase(id) == 0) {
        ended_(id, process.end());
    }
}

}  // namespace weir::broker
