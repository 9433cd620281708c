// SPDX-License-Identifier: LGPL-3.0-only
// Owns: one weir-broker process: finding, starting and awaiting it (by its readiness descriptor), and ending it with
// all its descendants. Must not know configurations. Linux: pidfd, PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER.
#pragma once
#include <sys/types.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cmd/common/log_line.hpp"
#include "cmd/instance/log_tail.hpp"
#include "cmd/instance/signals.hpp"
#include "libfairshare/base/result.hpp"

namespace weir::cmd {

/// weir-broker beside this program, else in ../libexec/weir, else in PATH. Errors: ENOENT with the places looked at.
Result<std::string> find_broker();
/// The folder of this program's executable.
std::string program_folder();
/// The folder of our jobtap plugins: ../lib/flux/job-manager/plugins relative to the broker.
std::string plugin_folder();

class BrokerProcess {
  public:
    /// Starts `argv` plus "--ready-fd N" in a process group of its own, standard output and error appended to
    /// `log_path`. The broker gets SIGTERM when this process dies in any way; its orphans become our children.
    static Result<BrokerProcess> start(std::vector<std::string> argv, const std::string& log_path,
                                       const Signals& signals);
    BrokerProcess(BrokerProcess&& other) noexcept;
    BrokerProcess& operator=(BrokerProcess&& other) = delete;
    /// Kills what is left.
    ~BrokerProcess();

    /// The URI that the broker writes when all modules run. Errors: its message when it failed; interrupted (EINTR).
    Result<std::string> wait_ready(Signals& signals, Duration timeout);
    /// Sends SIGTERM, then SIGKILL after `patience` or when the end is urgent; then ends the processes that it left.
    /// Returns its exit status (as wait(2)).
    int stop(Signals& signals, Duration patience);
    /// Readable when the broker has ended.
    int pidfd() const { return pidfd_; }
    bool has_ended() const;
    /// Whether it ended with exit code 0: somebody asked it to. REQUIRES: has_ended().
    bool was_shut_down();
    pid_t pid() const { return pid_; }
    /// What was added to its log since the last call.
    std::vector<LogLine> log();
    /// How it ended: "killed by signal 9", "exit code 1", and the last errors of its log. REQUIRES: has_ended().
    std::string end_text();

  private:
    BrokerProcess() = default;
    int reap();
    std::string last_words();  ///< the last errors of its log

    pid_t pid_ = -1;
    int pidfd_ = -1;
    int ready_fd_ = -1;
    int status_ = 0;
    bool is_reaped_ = false;
    static constexpr std::size_t words_max = 8;
    std::unique_ptr<LogTail> log_;
    std::vector<std::string> said_;  // the last errors
};

/// Ends orphaned processes (we are their subreaper): SIGTERM, then SIGKILL. Returns their number.
int end_orphans(Duration patience);

}  // namespace weir::cmd
