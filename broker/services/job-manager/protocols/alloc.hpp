// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the manager's side of the scheduler protocol: the queue of jobs that need resources, the open requests,
//   hello, ready, alloc, free, cancel, prioritize; and which jobs get none while the instance starts and ends.
// Must not know: how the scheduler decides; jobtap.
// RFC 27.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "broker/services/job-manager/engine/engine.hpp"
#include "broker/services/job-manager/tables/job_queue.hpp"

namespace weir::broker::jobs {

class Alloc : public Component {
  public:
    explicit Alloc(Engine& engine) : Component(engine) {}
    ~Alloc() { flux_watcher_destroy(kept_timer_); }
    Alloc(const Alloc&) = delete;
    Alloc& operator=(const Alloc&) = delete;
    Status start();

    /// A job in SCHED needs resources. Idempotent; held and bypassed jobs and jobs of stopped queues are ignored.
    void enqueue(Job& job);
    void dequeue(Job& job);
    /// Cancels the open request, if any. `is_final`: the job continues without waiting for the answer.
    void cancel(Job& job, bool is_final);
    /// Returns the job's resources to the scheduler: at once or, of a partition, when job-route has submitted what
    /// follows it.
    void free(const Job& job);
    /// The job's priority changed. `one_shot`: also notify the scheduler and check the limited window now.
    void on_priority(Job& job, bool one_shot);
    /// After a pass over all jobs: one message to the scheduler for those with an open request.
    void on_priorities(const std::vector<Job*>& changed);
    /// A queue was started or stopped: jobs join or leave.
    void on_queue(const std::string& queue, bool is_started);
    void on_disconnect(const flux_msg_t* msg);
    /// Sends alloc requests as far as the scheduler's mode allows.
    void send_requests();
    bool is_online() const { return is_online_; }
    std::size_t queued() const { return queue_.size(); }
    std::size_t pending() const { return sent_.size(); }
    const JobQueue& queue() const { return queue_; }

  private:
    friend struct AllocTable;
    Answer hello(const Request& request);
    Answer ready(const Request& request);
    Answer query(const Request& request);
    Answer resource_status(const Request& request);
    Answer close(const Request& request);
    Answer give_back(const Request& request);
    void give_back_all();
    void on_response(const flux_msg_t* msg);
    void on_modules(const flux_msg_t* msg);
    void on_partitions(const flux_msg_t* msg);
    Status take_response(const char* text);
    Status on_success(Job* job, JobId id, json_t* response);
    void on_denied(Job& job, const std::string& note);
    void on_canceled(Job& job);
    void requeue(Job& job);
    /// Limited mode: cancels requests to make room for queued jobs of higher priority.
    void recall();
    void go_offline(const std::string& why);
    void put_resources();
    void send_free(JobId id, const std::string& r_text);
    /// Whether jobs of this one's kind get cores now.
    bool is_open_to(const Job& job) const;

    JobQueue queue_;
    JobQueue sent_;
    bool is_online_ = false;
    bool is_for_partitions_ = false;  // until they are submitted, or nobody submits any
    bool is_closed_ = false;          // the instance ends; in memory alone: the next start allocates again
    std::size_t limit_ = 0;           // 0 = unlimited
    std::string sender_;
    std::map<JobId, std::string> kept_;  // the R of partitions that have ended
    flux_watcher_t* kept_timer_ = nullptr;
};

}  // namespace weir::broker::jobs
