// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the events by which a job-manager passes a signal to whoever runs the job: "shell-ID.kill", {signum:i}. Must
// not know where the job runs. Source: flux-core's job-manager (kill.c).
#pragma once
#include <functional>

#include "modules/common/flux_cpp.hpp"
#include "modules/job-route/messages.hpp"

namespace weir::route {

class SignalEvents {
  public:
    using Take = std::function<void(JobId id, int signum)>;
    /// \param take every signal to a job of this instance; the job-manager has checked who sends it.
    SignalEvents(flux_t* h, Take take);
    flux_t* flux() const { return h_; }

  private:
    void on_event(const flux_msg_t* msg);

    flux_t* h_;
    Take take_;
    flux::Handlers handlers_;
};

}  // namespace weir::route
