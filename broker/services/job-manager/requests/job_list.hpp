// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the service job-list: list, list-id (which can wait for a state), statistics.
// Must not know: how a job is shown or ordered (job_attrs.hpp), flux KVS.
// RFC 43; flux-core's job-list.
#pragma once
#include <list>
#include <map>

#include "broker/services/job-manager/engine/engine.hpp"
#include "broker/services/job-manager/tables/job_attrs.hpp"

namespace weir::broker::jobs {

class JobList : public Component {
  public:
    explicit JobList(Engine& engine) : Component(engine) {}
    ~JobList() { flux_watcher_destroy(timer_); }
    Status start();
    /// The job changed state: answers requests that waited for it, notifies watchers of the statistics.
    void on_state(const Job& job);
    void end_all();

  private:
    friend struct JobListTable;
    Answer list(const Request& request);
    Answer list_id(const Request& request);
    Answer list_attrs(const Request& request);
    Answer job_stats(const Request& request);
    Answer disconnect(const Request& request);
    Answer stats(const Request& request);
    void send_stats();

    struct Waiter {
        MessageRef request;
        int states;
        JobAttributes shown;
    };
    void answer(const Waiter& waiter, const Job& job);
    std::map<JobId, std::list<Waiter>> waiters_;  ///< by the job whose state they wait for
    std::list<MessageRef> stats_watchers_;
    flux_watcher_t* timer_ = nullptr;
    bool is_timer_running_ = false;
};

}  // namespace weir::broker::jobs
