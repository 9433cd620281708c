// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a running instance tree: a parent broker, which keeps its partitions, from its configuration file to the end of
// all processes. Used by `weir start` and `weir demo`.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cmd/common/client.hpp"
#include "cmd/common/instances.hpp"
#include "cmd/instance/broker_process.hpp"
#include "cmd/instance/log_tail.hpp"
#include "cmd/instance/plan.hpp"

namespace weir::cmd {

/// A partition that the session began with.
struct SessionChild {
    Partition partition;
    std::uint64_t jobid = 0;
    std::string uri;
};

/// What a session is started with.
struct SessionSetup {
    Plan plan;
    std::vector<std::string> queues;
    std::string files;                            ///< the folder of configuration and log
    std::vector<std::string> extra_configs = {};  ///< on top of the plan; they may have other partitions
};

class Session {
  public:
    /// Writes the configuration and starts the parent; returns when every partition that starts at once serves its
    /// queue, but for those that `weir partition` added or resized and that do not come up, and those whose nodes are
    /// drained. `print_line` receives a line for each step. Errors: the message of the broker or a child; EINTR.
    static Result<Session> start(const SessionSetup& setup, Signals& signals,
                                 const std::function<void(const std::string&)>& print_line);
    /// Ends the children's jobs, then the parent; removes sockets and directories that start() made.
    void stop(Signals& signals);

    /// Warnings and errors that were logged since the last call, each once: "batch: warning: job-priority: ...".
    std::vector<std::string> warnings();

    Client& client() { return *client_; }
    const std::string& uri() const { return client_->uri(); }
    const std::vector<SessionChild>& children() const { return children_; }
    BrokerProcess& broker() { return *process_; }

  private:
    Session() = default;
    bool is_answering();
    Status wait_up(Signals& signals, const std::function<void(const std::string&)>& print_line);
    std::string starting_text(const std::vector<PartitionState>& states);
    bool is_awaited(const PartitionState& state, bool is_patient);
    void learn_children(const std::vector<PartitionState>& states);
    void follow_logs(const std::vector<PartitionState>& states);

    std::unique_ptr<BrokerProcess> process_;
    std::unique_ptr<Client> client_;
    std::vector<SessionChild> children_;
    std::map<std::string, LogTail> logs_;  // by partition
    std::set<std::string> rundirs_;        // of the partitions
    Plan plan_;
};

}  // namespace weir::cmd
