// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what the views of jobs have in common. Must not know: which views there are.
#pragma once
#include <string>

#include "libfairshare/base/json/json.hpp"
#include "libsched/priority/explain.hpp"
#include "modules/job-priority/priority_service.hpp"

namespace weir::priority {

/// The path of the account that would pay for it; empty if nobody would.
std::string account_of(const PriorityService& service, const BookJob& job);
/// The six factors of every site always, the others if they are not 0 for the job.
bool is_shown(const Term& term);
/// Whether something else than urgency and priority keeps a pending job from starting (Gate::is_held_back()).
bool is_held_back(const PriorityService& service, FluxJobId id);
/// The same as a function, which refers to the service.
IsHeldBack held_back_in(const PriorityService& service);
std::string policy_name(const PriorityService& service);
/// Sets id, user, account and queue.
void set_job(Json& view, const PriorityService& service, const BookJob& job);
/// What policies other than multifactor go by; nothing for that one.
Measured measured_for_order(const PriorityService& service, Instant now);

}  // namespace weir::priority
