// SPDX-License-Identifier: LGPL-3.0-only
// Owns: sending the memos of held-back jobs to the job-manager, at a bounded rate, since each is an event of the
// journal and serves display alone. Volatile: they are not stored. RFC 21 (memo).
#pragma once
#include <cstddef>

#include "modules/common/flux_cpp.hpp"
#include "modules/job-priority/priority_service.hpp"

namespace weir::priority {

class MemoLink {
  public:
    /// \param time_scale  reactor seconds in a real second
    MemoLink(flux_t* h, double time_scale, PriorityService& service);

    /// Sends what is due, unless the last portion was sent just now. Cheap if nothing is due.
    void pump();
    /// The module ends: withdraws the memos, since no other module would.
    void withdraw();

    flux_t* flux() const { return h_; }

  private:
    void send(std::size_t count, const Memos::Reason& reason_of);
    void on_timer();

    flux_t* h_;
    PriorityService& service_;
    double pause_s_;
    bool is_paused_ = false;
    flux::Watcher timer_;
};

}  // namespace weir::priority
