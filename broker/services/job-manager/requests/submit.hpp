// SPDX-License-Identifier: LGPL-3.0-only
// Owns: accepting jobs: job-ingest.submit and job-manager.submit.
// Must not know: what happens to an accepted job.
// RFC 21 (submit, validate), RFC 25, RFC 30; flux_job_submit(3).
#pragma once
#include "broker/services/job-manager/codecs/jobspec.hpp"
#include "broker/services/job-manager/engine/engine.hpp"

namespace weir::broker::jobs {

class Submit : public Component {
  public:
    explicit Submit(Engine& engine) : Component(engine), ids_(0, 0) {}
    /// Ids will follow the greatest one that the table knows.
    Status start();

  private:
    friend struct SubmitTable;
    struct Wish {
        JobId id = 0;
        Json jobspec;
        std::uint32_t userid = 0;
        int urgency = urgency_default;
        int flags = 0;
        std::int64_t t_submit_us = 0;
    };
    Answer ingest(const Request& request);
    Answer manager_submit(const Request& request);
    Answer ping_nothing(const Request&) { return Reply::later(); }
    /// Validates, assigns an id, posts submit and validate. Error: why the job is refused.
    Result<JobId> accept(Wish wish);

    IdGenerator ids_;
};

}  // namespace weir::broker::jobs
