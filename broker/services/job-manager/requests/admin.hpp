// SPDX-License-Identifier: LGPL-3.0-only
// Owns: requests about the manager as a whole: list, getattr, getinfo, statistics, queues, drain and idle, purging.
// Must not know: the life of a single job.
// Source: flux-core's job-manager; RFC 33 (queues).
#pragma once
#include <list>

#include "broker/services/job-manager/engine/engine.hpp"

namespace weir::broker::jobs {

class Admin : public Component {
  public:
    explicit Admin(Engine& engine) : Component(engine) {}
    Status start();
    /// Whether configure() would accept the configuration. \return the key and what would be right.
    static Status check(const json_t* config);
    /// Reads [job-manager] inactive-num-limit (default 10000, -1 = none), inactive-age-limit (FSD, default none) and
    /// journal-sync (default true). REQUIRES: check() accepted the configuration.
    void configure(const json_t* config);
    /// Whether the job journal is synced before a change that is in it is answered or published.
    bool syncs_journal() const { return limits_.syncs_journal; }
    void on_inactive();
    /// Answers drain and idle requests whose condition holds.
    void check_drained();
    /// Purges inactive jobs beyond the limits.
    void purge_surplus();
    void end_all();

  private:
    friend struct AdminTable;
    struct Limits {
        std::int64_t num = 10000;  // ended jobs kept; -1: all
        double age_s = -1;         // for so long; -1: for ever
        bool syncs_journal = true;
    };
    static Result<Limits> limits_of(const json_t* config);
    Answer list(const Request& request);
    Answer getattr(const Request& request);
    Answer getinfo(const Request& request);
    Answer history(const Request& request);
    Answer stats(const Request& request);
    Answer queue_list(const Request& request);
    Answer queue_status(const Request& request);
    Answer queue_enable(const Request& request);
    Answer queue_start(const Request& request);
    Answer drain(const Request& request);
    Answer idle(const Request& request);
    Answer purge(const Request& request);
    Answer purge_id(const Request& request);
    Answer disconnect(const Request& request);
    Answer config_reload(const Request& request);
    void forget(std::unique_ptr<Job> job);
    void publish_purged();

    std::list<MessageRef> drain_, idle_;
    Limits limits_;
    Json purged_;
    /// Most active jobs since memory was last released.
    std::size_t active_peak_ = 0;
};

}  // namespace weir::broker::jobs
