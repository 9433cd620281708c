// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the service job-info: lookup of a job's eventlog, jobspec and R, and watching an eventlog.
// Must not know: what events mean; the KVS (everything comes from the job table).
// Source: flux-core's job-info. guest.* is in guest_eventlogs.
#pragma once
#include <list>
#include <string>
#include <unordered_map>

#include "broker/services/job-manager/engine/engine.hpp"
#include "broker/services/job-manager/requests/guest_eventlogs.hpp"

namespace weir::broker::jobs {

class JobInfo : public Component {
  public:
    explicit JobInfo(Engine& engine) : Component(engine), guest_(engine) {}
    Status start();
    void on_event(const Job& job, const std::string& name, const std::string& line);
    /// Watchers of a job that was purged, or of all when stopping, get ENODATA. The files of a purged job stay, so
    /// streams of its output are read to their end.
    void end(JobId id);
    void end_all();

  private:
    friend struct JobInfoTable;
    Answer lookup(const Request& request);
    Answer lookup_now(const Request& request);
    Answer update_lookup(const Request& request);
    Answer update_watch(const Request& request);
    Answer watch(const Request& request);
    Answer cancel(const Request& request);
    Answer disconnect(const Request& request);
    Answer stats(const Request& request);
    void on_read(const flux_msg_t* response) { guest_.on_read(response); }
    Result<Job*> visible(const Request& request) const;
    bool has_room(const Request& request, const Job& job) const;

    struct Watcher {
        MessageRef request;
        bool is_of_updates;
    };
    Result<std::optional<std::string>> value_of(const Job& job, std::string_view key, bool is_current) const;

    std::unordered_map<JobId, std::list<Watcher>> watchers_;
    GuestEventlogs guest_;
};

}  // namespace weir::broker::jobs
