// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the running part of a demo: it submits each job at its time and draws the state of the instances until all jobs
// have ended. Must not know the results (report, checks).
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cmd/common/instance_facts.hpp"
#include "cmd/common/live_terminal.hpp"
#include "cmd/demo/workload.hpp"
#include "cmd/instance/session.hpp"
#include "cmd/view/live_view.hpp"

namespace weir::cmd {

/// The output of the picture. On a terminal it is redrawn in place; elsewhere it is a line at intervals.
class LiveOutput {
  public:
    LiveOutput(const Screen& screen, bool is_plain, int fd);
    void draw(const LiveState& state);
    /// Real time between two pictures.
    Duration interval() const;

  private:
    Screen screen_;
    int fd_;
    std::optional<LiveTerminal> terminal_;  ///< none: lines
};

/// The moment at which most jobs were pending.
struct FullestMoment {
    ShareView view;
    QueueScene queue;
    InstanceBox top;
    Duration at{};  ///< scaled, since the first submission
};

class Driver {
  public:
    Driver(const Workload& workload, Session& session, double scale, double origin);
    /// Runs to the end. Errors: EINTR; a submission that was refused; the parent or a partition that ended.
    Status run(LiveOutput& output, Signals& signals);
    /// The instance's scaled time of the first and the last submission.
    Instant first_submit() const;
    Instant last_submit() const;
    std::int64_t finished() const { return finished_; }
    const FullestMoment& fullest() const { return fullest_; }

  private:
    Status submit_due();
    Status observe();
    /// Reads all facts if the queue has grown by a quarter since they were last read.
    void keep_fullest(std::int64_t pending, const ShareView& view);
    void observe_partition(const SessionChild& child, Client& client);
    double now() const;
    Duration next_wait(Duration view_at) const;

    const Workload& workload_;
    Session& session_;
    double scale_, origin_;
    double begin_ = 0;      // scaled time at which the first job is due
    Duration started_{};    // real
    std::size_t next_ = 0;  // job to submit
    std::int64_t finished_ = 0;
    Duration makespan_{};
    std::vector<Client> children_;
    LiveState state_;
    FullestMoment fullest_;
};

}  // namespace weir::cmd
