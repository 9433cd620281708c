// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the processes of real jobs: one launcher a job, started by libuv on a loop of its own that the Flux reactor
// pumps. Must not know jobspecs or messages. Source: libuv uv_spawn; broker/core/launcher.hpp for the protocol with the
// launcher.
#pragma once
#include <flux/core.h>
#include <uv.h>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "broker/services/service.hpp"
#include "libfairshare/base/result.hpp"

namespace weir::broker {

struct LaunchRequest {
    std::vector<std::string> command;
    std::vector<std::string> environment;  // NAME=VALUE
    std::string cwd;                       // empty: the broker's
    std::uint32_t task_count = 1;
    std::string input;   // file that the tasks read; empty: /dev/null
    int output_fd = -1;  // the tasks' stdout; stays the caller's
    int error_fd = -1;   // their stderr; stays the caller's
};

/// How a job's processes ended.
struct LaunchEnd {
    int status = 0;        // the greatest of any task, as a job shell has it (status_of_shell)
    int failed_errno = 0;  // not 0: this task could not be executed, nothing ran
    std::uint32_t failed_task = 0;
    std::string failed_program;
    std::string unreadable;  // not empty: that task failed for this file, its input
};

/// Of a task that did not run, where failed_errno is not 0: the wait status, with the exit code that a shell has then,
/// and the words of flux-core's job shell.
int status_of_failure(const LaunchEnd& end);
std::string words_of_failure(const LaunchEnd& end);

class Process;

class ProcessPool {
  public:
    using Started = std::function<void(flux_jobid_t)>;
    using Ended = std::function<void(flux_jobid_t, const LaunchEnd&)>;
    /// \param launcher program that understands --launch-task.
    ProcessPool(flux_t* h, std::string launcher, Started started, Ended ended);
    /// Ends what still runs: SIGTERM, after `grace_s` real seconds SIGKILL; waits until no process is left.
    ~ProcessPool();
    ProcessPool(const ProcessPool&) = delete;
    ProcessPool& operator=(const ProcessPool&) = delete;

    /// \return an error in words if the launcher cannot be started.
    Status launch(flux_jobid_t id, const LaunchRequest& request);
    /// Signals the job's tasks and their process groups; SIGKILL every descendant. No effect on an unknown job.
    void kill(flux_jobid_t id, int signal);
    std::size_t size() const { return processes_.size(); }
    void set_grace(double seconds) { grace_s_ = seconds; }

  private:
    friend class Process;
    void pump();
    void end_all();
    void on_closed(Process& process);
    static void on_readable(flux_reactor_t*, flux_watcher_t*, int, void* arg);

    flux_t* h_;
    std::string launcher_;
    Started started_;
    Ended ended_;
    double grace_s_ = 5;
    uv_loop_t loop_{};
    Watcher watcher_;
    std::map<flux_jobid_t, std::unique_ptr<Process>> processes_;
    std::set<flux_jobid_t> refused_;  // closing without ever having run
    bool is_pumping_ = false;
};

}  // namespace weir::broker
