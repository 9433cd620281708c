// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the requests of users about jobs: raise, kill, urgency, memo, update. Must not know: the consequences (the
// engine acts on the events that are posted here). RFC 21, RFC 24, RFC 30; wording of refusals as flux-core's.
#pragma once
#include <vector>

#include "broker/services/job-manager/engine/engine.hpp"

namespace weir::broker::jobs {

class Control : public Component {
  public:
    explicit Control(Engine& engine) : Component(engine) {}
    Status start();

  private:
    friend struct ControlTable;
    Answer raise(const Request& request);
    Answer raise_all(const Request& request);
    Answer kill(const Request& request);
    Answer kill_all(const Request& request);
    Answer urgency(const Request& request);
    Answer memo(const Request& request);
    Answer update(const Request& request);
    Answer update_running(Job& job, json_t* updates);
    Answer post_event(const Request& request);
    Status check_update(Job& job, const json_t* updates);
    Status follow_queue(const Job& job, json_t* jobspec, json_t* changes);
    /// The active job of the request. Error: unknown or inactive (with `code`), or another user's (`denial`).
    Result<Job*> target(const Request& request, std::errc code, const char* denial) const;
    /// An eventlog stays in memory and on disk: what guests add to it ends at 256 KiB. Error: ENOSPC.
    static Status check_room(const Request& request, const Job& job);
    std::vector<JobId> select(std::uint32_t userid, int states) const;
    void signal(JobId id, int signum);
};

}  // namespace weir::broker::jobs
