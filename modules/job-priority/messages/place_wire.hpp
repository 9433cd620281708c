// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the JSON of what a child says about jobs under its parent's limits, and of the answers.
// Must not know: handles, requests, how a limit is counted. Source: README.md (RPCs).
#pragma once
#include <vector>

#include "libfairshare/base/json/json.hpp"
#include "libfairshare/base/result.hpp"
#include "modules/job-priority/gate/place_wish.hpp"
#include "modules/job-priority/jobs/job_event.hpp"

namespace weir::priority {

/// {jobid, link, complete, jobs: [[id, "gone"], [id, state, seen, new, user, account, queue, qos, nodes, cores, wall
/// time in microseconds or null, priority], ...]}; `child` is the parent's job in which the child lives.
Json write_wishes(FluxJobId child, const PlaceWishes& wishes);
/// Errors: EPROTO with the entry and what is right. At most PlaceWishes::batch_max jobs, with names as in a report.
Result<PlaceWishes> read_wishes(const json_t* payload);
/// [[id, number, "waits" | "granted" | "refused", text], ...]
Json write_answers(const std::vector<PlaceAnswer>& answers);
/// Errors: EPROTO with the entry.
Result<std::vector<PlaceAnswer>> read_answers(const json_t* answers);

}  // namespace weir::priority
