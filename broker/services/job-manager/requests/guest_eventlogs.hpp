// SPDX-License-Identifier: LGPL-3.0-only
// Owns: streams of the eventlogs guest.exec.eventlog and guest.output of jobs, for job-info.
// Must not know: who may read a job (job_info.cpp), processes.
#pragma once
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "broker/services/job-manager/engine/engine.hpp"
#include "broker/services/output_eventlog.hpp"
#include "broker/services/output_notices.hpp"

namespace weir::broker::jobs {

class GuestEventlogs {
  public:
    explicit GuestEventlogs(Engine& engine);
    /// Opens the notices of output files. Error: the kernel has none left.
    Status start();

    static bool is_guest_path(std::string_view path) { return path.starts_with("guest."); }
    /// Begins a stream. It ends with ENODATA after the last entry. Error: there is no such eventlog.
    Status open(const flux_msg_t* request, const Job& job, std::string_view path, bool wants_sentinel);
    /// The whole text now, or nothing: no such eventlog yet. Error: it is too large for one answer.
    Result<std::optional<std::string>> text(const Job& job, std::string_view path) const;
    void on_event(const Job& job, const std::string& name);
    /// The answer of broker.wait-read.
    void on_read(const flux_msg_t* response);
    /// Ends the stream that `request` cancels, with ENODATA. \return false: it has none.
    bool cancel(const flux_msg_t* request);
    void disconnect(const flux_msg_t* request);
    void end_all();
    std::size_t size() const;
    /// Those whose streams of this job are open.
    std::vector<const flux_msg_t*> requests(JobId id) const;

  private:
    struct Stream {
        MessageRef request;
        bool wants_sentinel = false;
        std::size_t bytes_sent = 0;                // of guest.exec.eventlog
        std::unique_ptr<OutputEventlog> output{};  // of guest.output, from the job's start on
        bool is_output = false;
        bool is_unread = false;   // the client has not read the last part of the output yet
        std::int64_t number = 0;  // of all streams that were opened
    };
    enum class Progress { waits, has_more, ended };
    /// \param job nothing: it was purged.
    Progress advance(JobId id, const Job* job, Stream& stream);
    Progress advance_output(JobId id, const Job* job, Stream& stream);
    void wait_read(JobId id, Stream& stream);
    void advance_all(JobId id, const Job* job);
    void send_sentinel(Stream& stream);
    std::unique_ptr<OutputEventlog> output_of(const Job& job) const;

    Engine& engine_;
    JobOutput files_;
    std::unordered_map<JobId, std::list<Stream>> streams_;
    std::unique_ptr<OutputNotices> notices_;
    std::int64_t opened_ = 0;
};

}  // namespace weir::broker::jobs
