// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a running instance tree: a parent broker, and its partitions as jobs of it, from their configuration files to
// the end of all processes. Used by `weir start` and `weir demo`.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cmd/common/client.hpp"
#include "cmd/common/instances.hpp"
#include "cmd/common/submission.hpp"
#include "cmd/instance/broker_process.hpp"
#include "cmd/instance/log_tail.hpp"
#include "cmd/instance/plan.hpp"
#include "cmd/instance/revival.hpp"

namespace weir::cmd {

/// A child instance of the session.
struct SessionChild {
    Partition partition;
    std::uint64_t jobid = 0;
    std::string uri;
    PartitionState state;
    Revival revival;
    bool is_attached = false;
};

class Session {
  public:
    /// Writes the configurations to `files`, starts the parent with `extra_configs` on top, then the partitions;
    /// returns when every partition serves its queue. `say` receives a line for each step. Errors: the message of the
    /// broker or a child; EINTR.
    static Result<Session> start(const Plan& plan, const std::string& files,
                                 const std::vector<std::string>& extra_configs, Signals& signals,
                                 const std::function<void(const std::string&)>& say);
    /// Ends the children's jobs, then the parent; removes sockets and directories that start() made.
    void stop(Signals& signals);

    /// Checks which partitions ended and which serve again, and starts those that are due. Each event is a sentence,
    /// which is also in the log, and in `weir tree` by the broker's attributes.
    std::vector<std::string> watch();
    /// The time until watch() has something to do; at most a second.
    Duration pause() const;
    /// Warnings and errors that were logged since the last call, each once: "batch: warning: job-priority: ...".
    std::vector<std::string> warnings();

    Client& client() { return *client_; }
    const std::string& uri() const { return client_->uri(); }
    const std::vector<SessionChild>& children() const { return children_; }
    BrokerProcess& broker() { return *process_; }

  private:
    Session() = default;
    Status start_children(const std::string& broker, const std::string& files,
                          const std::vector<std::string>& extra_configs);
    bool is_answering();
    std::string end_of(SessionChild& child);
    void note_end(SessionChild& child, const std::string& why, std::vector<std::string>& said);
    void start_again(std::size_t i, std::vector<std::string>& said);
    void say(int severity, const std::string& sentence, std::vector<std::string>& said);
    Status wait_attached(Signals& signals);
    std::string child_failure(const SessionChild& child);

    std::unique_ptr<BrokerProcess> process_;
    std::unique_ptr<Client> client_;
    std::vector<SessionChild> children_;
    std::vector<Submission> jobs_;  // by child
    std::vector<LogTail> logs_;     // by child
    Plan plan_;
};

}  // namespace weir::cmd
