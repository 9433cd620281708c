// SPDX-License-Identifier: LGPL-3.0-only
// Owns: job-manager.events-journal: the listeners with their filters, the backlog, and the stream.
// Must not know: the disk journal; what events mean.
// Source: flux-core's events journal: the backlog has a response a job with all its events; after the sentinel each
// response has one event. Here it has all events of one job that follow each other in one turn of the reactor: the four
// of a submission, the five of an end. A listener gets the events in the order in which they were posted. One that
// asks for jobs `together` gets all events of a turn in one response, {jobs:[...]}, each element as a response else.
#pragma once
#include <list>
#include <set>
#include <string>

#include "broker/services/job-manager/engine/engine.hpp"

namespace weir::broker::jobs {

class EventStreams : public Component {
  public:
    explicit EventStreams(Engine& engine) : Component(engine) {}
    Status start();
    /// An event was applied; `line` is its text.
    void on_event(const Job& job, const std::string& name, const std::string& line);
    /// Ends every stream with ENODATA.
    void end_all();
    void on_disconnect(const flux_msg_t* msg);
    std::size_t listeners() const { return listeners_.size(); }
    std::uint64_t events() const { return events_; }

  private:
    friend struct EventStreamsTable;
    struct Listener {
        MessageRef request;
        bool has_allow = false;
        bool is_together = false;
        std::set<std::string, std::less<>> allow{}, deny{};
        JobId last = 0;         ///< the job of the response that was made last
        Outbox::Place place{};  ///< of this response
        bool takes(std::string_view name) const;
    };
    Answer open(const Request& request);
    Answer cancel(const Request& request);
    void send_job(const Listener& listener, const Job& job);

    std::list<Listener> listeners_;
    std::uint64_t events_ = 0;
};

}  // namespace weir::broker::jobs
