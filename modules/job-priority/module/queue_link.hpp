// SPDX-License-Identifier: LGPL-3.0-only
// Owns: asking which queues start no job now: the job-manager for those that are stopped, and job-route for those whose
// partitions are all drained. Must not know jobs. Source: job-manager.queue-status, job-route.partitions.
#pragma once
#include <set>
#include <string>

#include "modules/common/flux_cpp.hpp"
#include "modules/common/queue_watch.hpp"
#include "modules/job-priority/priority_service.hpp"

namespace weir::priority {

class QueueLink {
  public:
    QueueLink(flux_t* h, PriorityService& service);
    flux_t* flux() const { return h_; }
    /// Asks now, and once more if answers are on their way: a change may be missing in them.
    void ask();
    /// Whether each question has its answer.
    bool is_settled() const { return !partitions_ && queues_.is_settled(); }
    /// Asks if a second of real time is over since the last question, and jobs wait: their memos tell it, and limits
    /// count no job that nothing starts. A stock Flux tells no change. Cheap.
    void pump();

  private:
    void on_timer() { is_paused_ = false; }
    void ask_partitions();
    void on_partitions(flux_future_t* f);
    void apply_stopped();

    flux_t* h_;
    PriorityService& service_;
    std::set<std::string> closed_;  ///< of drained partitions
    bool is_paused_ = false;
    bool is_to_ask_partitions_again_ = false;
    flux::Future partitions_;
    flux::Watcher timer_;
    flux::QueueWatch queues_;
};

}  // namespace weir::priority
