// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the conversation with this instance's job-route in a child instance: the priorities that the parent gives to
// its jobs here. Says from when on the plugin may be told anything, so that after a start nothing starts before the
// jobs that come before it are here. Must not know what the priorities lead to. ADR 0245.
#pragma once
#include <functional>

#include "modules/job-priority/module/journal_link.hpp"
#include "modules/job-priority/priority_service.hpp"

namespace weir::priority {

class OrderLink {
  public:
    /// \param is_attached  whether the parent's policy and factors are here, or will not come
    OrderLink(flux_t* h, double time_scale, PriorityService& service, std::function<bool()> is_attached);

    /// Whether all the parent's jobs that are to be here are, with their priorities; or job-route did not come within a
    /// second, or not all of it within ten. Once true it stays true.
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
    double patience_left_s_;
    Backoff backoff_;
    flux::Future stream_;
    flux::Watcher retry_;
    flux::Watcher patience_;
};

}  // namespace weir::priority
