// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the manager's side of the execution protocol: start requests and their responses.
// Must not know: processes, simulated run times (job-exec's), the scheduler.
// Source: flux-core's job-manager start protocol: requests without matchtag, several responses each,
//   {id, type: start|finish|release|exception|reattached, data}. A request carries the full jobspec and R; for a job
//   that had started before a restart also "reattach":true and "t_start", from which simulated execution goes on.
#pragma once
#include <string>

#include "broker/services/job-manager/engine/engine.hpp"

namespace weir::broker::jobs {

class Exec : public Component {
  public:
    explicit Exec(Engine& engine) : Component(engine) {}
    ~Exec() { flux_watcher_destroy(retry_); }
    Status start();
    /// A job in RUN without a running prolog. Idempotent.
    void start(Job& job);
    void on_disconnect(const flux_msg_t* msg);

  private:
    friend struct ExecTable;
    Answer hello(const Request& request);
    void on_response(const flux_msg_t* msg);
    Status take_response(const json_t* response);
    Status on_release(Job& job, const json_t* data);
    Status on_exception(Job& job, const json_t* data);
    /// The service is gone: open requests will not be answered. \param was_there false: nobody has received them.
    void go_offline(const std::string& why, bool was_there);
    void start_waiting();

    std::string service_ = "job-exec";
    std::string topic_ = "job-exec.start";
    std::string hello_sender_;
    bool is_online_ = true;  // until an answer says otherwise
    flux_watcher_t* retry_ = nullptr;
};

}  // namespace weir::broker::jobs
