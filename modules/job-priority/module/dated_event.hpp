// SPDX-License-Identifier: LGPL-3.0-only
// Owns: when an event of the journal was, by the instance's steady time. Must not read a clock.
#pragma once
#include <variant>

#include "modules/job-priority/jobs/job_event.hpp"
#include "modules/job-priority/module/steady_time.hpp"

namespace weir::priority {

/// \param event  its time is the stamp of the eventlog   \param is_live  it is not of a backlog
/// REQUIRES: look() since a live event arrived.
inline JobEvent dated(SteadyTime& time, JobEvent event, bool is_live) {
    const Instant stamp = event.time;
    const bool is_submission = std::holds_alternative<SubmitEvent>(event.what);
    event.time = !is_live ? time.past(stamp) : is_submission ? time.submitted(stamp) : time.live(stamp);
    event.moved = stamp - event.time;
    return event;
}

}  // namespace weir::priority
