// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the conversation with the parent instance's job-priority: attach (factors and policy come down), report (usage
// goes up). Must not know: how the connection is kept (modules/common/parent_link.hpp), what the records mean.
#pragma once
#include <functional>
#include <string>

#include "modules/common/parent_link.hpp"
#include "modules/job-priority/module/steady_time.hpp"
#include "modules/job-priority/module/timing.hpp"
#include "modules/job-priority/priority_service.hpp"

namespace weir::priority {

class UplinkLink {
  public:
    enum class State { connecting, attached, refused };

    struct Parent {
        std::string uri;
        FluxJobId jobid = 0;  ///< our job there
    };

    /// \param on_policy  takes the parent's policy; what it returns is told to the parent
    UplinkLink(flux_t* h, PriorityService& service, const SteadyTime& time, const Parent& parent,
               std::function<Json(const json_t*)> on_policy);

    /// Sends records after the state file has them (nothing is sent while the service has unwritten changes).
    void pump();
    /// Before the module ends: gives unacknowledged records up to `seconds` of the reactor's clock to arrive.
    void flush(double seconds, const std::function<void()>& commit);

    State state() const { return state_; }
    /// From a report to its acknowledgement.
    const Timing& round_trips() const { return round_trips_; }
    flux_t* flux() const { return h_; }

  private:
    void on_connected();
    void on_lost(const std::string& why);
    void on_attach(flux_future_t* f);
    void on_report(flux_future_t* f);
    void refuse(flux_future_t* f, int errnum);

    flux_t* h_;
    PriorityService& service_;
    const SteadyTime& time_;
    FluxJobId jobid_;
    std::function<Json(const json_t*)> on_policy_;
    State state_ = State::connecting;
    bool is_first_answer_ = true;
    bool was_attached_ = false;
    std::string last_reason_;
    flux::Future attach_;
    flux::Future report_;
    double report_since_s_ = 0;  ///< of the reactor's clock
    Timing round_trips_;
    flux::ParentLink link_;  // last: its callbacks use the rest
};

}  // namespace weir::priority
