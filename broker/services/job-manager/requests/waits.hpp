// SPDX-License-Identifier: LGPL-3.0-only
// Owns: job-manager.wait: the requests that wait for a job's end, and the ends that were not requested yet.
// Must not know: the queue, jobtap.
// Source: flux_job_wait(3): only jobs submitted waitable; each end is handed out once; owner only.
#pragma once
#include <list>
#include <map>
#include <string>

#include "broker/services/job-manager/engine/engine.hpp"

namespace weir::broker::jobs {

class Waits : public Component {
  public:
    explicit Waits(Engine& engine) : Component(engine) {}
    Status start();
    void on_active(const Job& job);
    void on_inactive(const Job& job);
    void on_disconnect(const flux_msg_t* msg);
    void end_all();

  private:
    friend struct WaitsTable;
    Answer wait(const Request& request);
    void fail_surplus();

    std::map<JobId, MessageRef> waiting_;
    std::list<MessageRef> any_;
    std::map<JobId, std::string> ended_;  // id -> response
    std::size_t waitables_ = 0;
};

/// {"id","success","errstr"} of a job that has ended.
std::string wait_payload(const Job& job);

}  // namespace weir::broker::jobs
