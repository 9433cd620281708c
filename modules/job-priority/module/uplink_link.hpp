// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the requests to the parent instance's job-priority: attach (its responses have factors, policy, and places
// under limits), report (usage), admit (jobs that need places). Must not know: how the connection is kept
// (modules/common/parent_link.hpp), what the records mean.
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "modules/common/parent_link.hpp"
#include "modules/job-priority/module/steady_time.hpp"
#include "modules/job-priority/module/timing.hpp"
#include "modules/job-priority/priority_service.hpp"
#include "modules/job-priority/sends/report_pace.hpp"

namespace weir::priority {

class UplinkLink {
  public:
    enum class State { connecting, attached, refused };

    struct Parent {
        std::string uri;
        FluxJobId jobid = 0;  ///< our job there
    };

    /// \param time  looks at the clocks
    /// \param on_policy  applies the parent's policy; its result is sent to the parent. Nothing: it could not be
    /// written, and is to be sent again.
    UplinkLink(flux_t* h, PriorityService& service, std::function<const SteadyTime&()> time, const Parent& parent,
               std::function<std::optional<Json>(const json_t*)> on_policy);

    /// Sends records that the state file has, at the pace of ReportPace. While the clock is behind what was committed,
    /// records may lie in the parent's future, which would not believe them: they wait.
    void pump();
    /// The same in the next turn of the reactor: a send may fail, and who has just committed must not fail with it.
    void pump_soon();
    /// Tells the parent what is new about the jobs that its limits count.
    void pump_wishes();
    /// Tells the parent which policy is in force here, where it does not know. Without a link nothing is sent: an
    /// attach is answered with the parent's policy, and then it is told.
    void tell_policy(Json policy);
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
    void on_wishes(flux_future_t* f);
    void take_first(const json_t* answer);
    void find_refused(const char* why);
    void refuse(flux_future_t* f, int errnum);
    void send();
    void wait(Duration time);

    flux_t* h_;
    PriorityService& service_;
    std::function<const SteadyTime&()> time_;
    FluxJobId jobid_;
    std::function<std::optional<Json>(const json_t*)> on_policy_;
    State state_ = State::connecting;
    bool is_first_answer_ = true;
    bool was_attached_ = false;
    bool is_report_failing_ = false;  ///< since the last one that was applied: attaching is no reason to hurry
    std::string last_reason_;
    std::string told_policy_;  ///< since the last attach; empty: none
    flux::Future attach_;
    flux::Future report_;
    flux::Future wishes_;
    double report_since_s_ = 0;  ///< of the reactor's clock
    ReportPace pace_;
    flux::Watcher pace_timer_;
    Timing round_trips_;
    flux::ParentLink link_;  // last: its callbacks use the rest
};

}  // namespace weir::priority
