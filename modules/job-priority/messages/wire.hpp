// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the mapping between JSON on the wire and this module's plain structs: journal responses, reports, factors.
// Must not know: handles, requests, what the values lead to. Source: RFC 14, 18, 20, 21, 25; README.md (RPCs).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libfairshare/base/json/json.hpp"
#include "libsched/config/engine_settings.hpp"
#include "modules/job-priority/jobs/job_event.hpp"
#include "modules/job-priority/ranking/parent_factors.hpp"
#include "modules/job-priority/state/state_rows.hpp"

namespace weir::priority {

/// One response of job-manager.events-journal.
struct JournalMessage {
    bool is_sentinel = false;  ///< the end of the backlog
    FluxJobId id = 0;
    std::vector<JobEvent> events;  ///< those that matter, in their order
};

/// The events that read_journal() understands, as a filter for the job-manager. Our own `priority` events are not among
/// them, so that pushing cannot feed back.
Json journal_filter();

/// Errors: EPROTO with what is missing.
Result<JournalMessage> read_journal(const json_t* message);

/// The totals of an R; no cores if there is none or it cannot be read.
MachineSize machine_of_R(json_t* R);
/// Cores that a jobspec asks for (RFC 14, 25), at least 1: counts multiply along nodes, slots and cores; of a range
/// the least.
std::int64_t cores_of_jobspec(const json_t* jobspec);

Json write_records(const std::vector<UplinkRow>& records);
/// At most UplinkQueue::batch_max of them, all or none. Errors: EPROTO with the entry and what is right.
Result<std::vector<UplinkRow>> read_records(const json_t* records);
/// [[job, value], ...]; null removes the value. Errors: EPROTO with the entry and what is right.
Result<std::vector<std::pair<FluxJobId, std::optional<double>>>> read_site_values(const json_t* values);
Json write_factors(const std::vector<FactorRow>& rows);
Result<std::vector<FactorRow>> read_factors(const json_t* rows);

}  // namespace weir::priority
