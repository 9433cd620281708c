// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the effect of an event on a job: the state machine of RFC 21, as one pure function. Live posting and the replay
// of the journal both call it, so a restored job equals the one that was running. Must not know: flux_t, plugins,
// queues; what is to be done next (engine.cpp).
// RFC 21, RFC 30; flux-core's job-manager for the order of cases that the RFC leaves open.
#pragma once
#include "broker/services/job-manager/state/job.hpp"

namespace weir::broker::jobs {

/// Written to disk before the executor gets a job with real processes, so that no restart runs it a second time. A line
/// of the journal, not of the job's eventlog.
inline constexpr const char* launch_mark = "launch";
/// The same for a job that no executor took, since there was none: it has not run.
inline constexpr const char* launch_refused_mark = "launch-refused";

/// The type of a fatal exception after which the job holds no resources: a scheduler that was loaded again could not
/// claim them (flux-core, libschedutil).
inline constexpr std::string_view exception_unclaimed = "scheduler-restart";

/// Applies one event. The event must be newer than the job's last one (the caller stamps it).
/// Error: an event or context that RFC 21 forbids here; the job is then unchanged. Events whose name is unknown are
/// kept in the eventlog and change nothing (RFC 21 leaves names open). O(size of the context).
Status transition(Job& job, const Event& event);

/// Merges `update` into `base` (both objects): objects merge, other values replace, null removes.
void merge_annotations(Json& base, const json_t* update);

}  // namespace weir::broker::jobs
