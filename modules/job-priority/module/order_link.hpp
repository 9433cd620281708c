// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the conversation with this instance's job-route in a child instance: the parent's priorities of its jobs here.
// Decides from when on values may be sent to the plugin, so that after a start no job starts before the jobs ahead of
// it have arrived. Must not know the effects of the priorities.
#pragma once
#include <functional>

#include "modules/common/backoff.hpp"
#include "modules/common/flux_cpp.hpp"
#include "modules/job-priority/priority_service.hpp"

namespace weir::priority {

class OrderLink {
  public:
    /// \param is_attached  whether the parent's policy and factors are here, or will not come
    OrderLink(flux_t* h, double time_scale, PriorityService& service, std::function<bool()> is_attached);

    /// Whether all jobs of the parent have arrived with their priorities; or job-route did not answer within a second,
    /// or not all arrived within ten. Once true it stays true.
    bool is_ordered();
    flux_t* flux() const { return h_; }

  private:
    void open();
    void on_response(flux_future_t* f);
    void on_patience_end();

    flux_t* h_;
    PriorityService& service_;
    std::function<bool()> is_attached_;
    bool was_there_ = false;  ///< job-route answered
    bool is_complete_ = false;
    bool is_ordered_ = false;
    bool is_patience_over_ = false;
    bool is_route_coming_;  ///< [weir.route] is configured
    double patience_left_s_;
    flux::Backoff backoff_;
    flux::Future stream_;
    flux::Watcher retry_;
    flux::Watcher patience_;
};

}  // namespace weir::priority
