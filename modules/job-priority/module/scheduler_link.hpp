// SPDX-License-Identifier: LGPL-3.0-only
// Owns: talking to the scheduler: whether it takes the order from this module (sched.order, which Weir's schedulers
// serve), how many jobs it looks at, and the changes of the order, one request at a time. Must not know how an order is
// computed.
#pragma once
#include <functional>

#include "modules/common/flux_cpp.hpp"
#include "modules/job-priority/priority_service.hpp"

namespace weir::priority {

class SchedulerLink {
  public:
    /// \param changed called when the scheduler was replaced: every job must be evaluated
    SchedulerLink(flux_t* h, double time_scale, PriorityService& service, std::function<void()> changed);

    /// From here on nothing is sent to the scheduler while `may_send` is false; call pump() when that changes.
    void send_only_if(std::function<bool()> may_send) { may_send_ = std::move(may_send); }
    /// Asks the scheduler whether it takes an order, and sends what is due; at most one request is open. Cheap if
    /// nothing is due.
    void pump();
    /// The scheduler may have been replaced: the next pump asks.
    void look_again() { is_look_due_ = true; }
    /// Whether the scheduler has the whole order, or takes none.
    bool is_settled() const;
    flux_t* flux() const { return h_; }

  private:
    enum class Sent { order, window };
    void send(Sent what, const char* topic, const Json& payload);
    void on_answer(flux_future_t* f);
    void take_order_answer(const Json& answer);
    void set(const SchedulerView& view);

    flux_t* h_;
    PriorityService& service_;
    std::function<void()> changed_;
    std::function<bool()> may_send_;
    flux::Future out_;
    Sent out_what_ = Sent::order;
    bool is_look_due_ = true;
    double answer_timeout_s_;
};

}  // namespace weir::priority
