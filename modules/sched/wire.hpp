// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the payloads that a scheduler exchanges (RFC 27 alloc responses, KVS commits and lookups) as plain functions.
// Must not know the scheduler's state nor send anything.
#pragma once
#include <flux/core.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "libfairshare/base/json/r.hpp"
#include "libsched/forecast.hpp"
#include "libsched/job_order.hpp"
#include "libsched/scheduler.hpp"

namespace weir::sched {

using HostNames = std::unordered_map<std::uint32_t, std::string>;  ///< by rank

/// The R of a job that starts, with the properties of its nodes: it may be an instance. A job without an end has
/// expiration 0.
R r_of(const Scheduler::Start& start, const HostNames& hosts, const NodeProperties& properties);
/// The end of this instance by its R: `never` where expiration is 0.
Instant end_of_instance(const R& r);
/// The believed end of a job by its R. Where expiration is 0, that of a job without a limit that began at starttime.
Instant end_of_job(const R& r);

/// kvs.commit of several jobs' R, in one transaction.
Json commit_payload(std::span<const std::pair<std::string, Json>> key_values);
/// kvs.commit that removes the R of jobs.
Json removal_payload(std::span<const JobId> jobs);
/// job-info.lookup of a job's R with the changes since its start.
Json current_r_payload(JobId id);
/// job-manager.getattr of the R that the job-manager has of a job.
Json allocation_payload(JobId id);
/// kvs.lookup of one key, and the text in its answer.
Json lookup_payload(std::string_view key);
Result<std::string> looked_up(const Json& answer);

/// Measured loads by rank. Each entry has "ranks" ("0-3") or "hosts" ("n[0-3]"), and of cpu_load and ram_usage (parts,
/// 0 to 1), cpu_speed (GHz) and ram_size (MB) what was measured. Error: the entry, the key and what it must be.
Result<std::vector<std::pair<std::uint32_t, NodeLoad>>> loads_of(json_t* nodes, const HostNames& hosts);

/// [[id, priority], ...]; errors name `what` and the entry.
using Priorities = std::vector<std::pair<JobId, std::uint32_t>>;
Result<Priorities> priorities_of(json_t* jobs, const char* what);

/// {"all", "bits", "gone": [id, ...], "jobs": [id, group, number, ...], "groups": [group, number, ...]}; nothing
/// for an empty object. Errors name the entry.
Result<std::optional<OrderChange>> order_of(json_t* payload);

/// "job.0000.0000.0000.0001.R"
std::string r_key(JobId id);

enum class AllocType { success = 0, annotate = 1, deny = 2, cancel = 3 };
Json alloc_response(JobId id, AllocType type);
Json annotations(const Scheduler::Annotation& annotation);
/// The answer to sched.why: {id, reason, place, text, behind?, behind_start?, t_estimate?, not_before?,
/// is_too_far_back?}, seconds.
Json why_answer(JobId id, const Waiting& waiting, const Forecast& forecast);
/// Removes the annotations that annotations() set.
Json no_annotations();

}  // namespace weir::sched
