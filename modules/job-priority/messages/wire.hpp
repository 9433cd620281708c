// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the mapping between JSON on the wire and this module's plain structs: factors, site values, given priorities.
// Must not know: handles, requests, the effects of the values. Source: RFC 20; README.md (RPCs).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libfairshare/base/json/json.hpp"
#include "libsched/config/engine_settings.hpp"
#include "libsched/job_order.hpp"
#include "modules/job-priority/jobs/job_event.hpp"
#include "modules/job-priority/ranking/given_priorities.hpp"
#include "modules/job-priority/ranking/parent_factors.hpp"

namespace weir::priority {

/// The totals of an R; no cores if there is none or it cannot be read.
MachineSize machine_of_R(json_t* R);

/// [[job, value], ...]; null removes the value. Errors: EPROTO with the entry and what is right.
Result<std::vector<std::pair<FluxJobId, std::optional<double>>>> read_site_values(const json_t* values);
/// [[the parent's job, priority], ...]; null: none any more. Errors: EPROTO with the entry and what is right.
Result<std::vector<GivenPriority>> read_given_priorities(const json_t* jobs);
/// The payload of sched.order.
Json write_order(const OrderChange& change);
/// The jobs of the parent that a child lived in. At most StateLog::hosts_max; null: none. Errors: EPROTO with what is
/// right.
Result<std::vector<FluxJobId>> read_hosts(const json_t* hosts);
Json write_hosts(const std::vector<FluxJobId>& hosts);
Json write_factors(const std::vector<FactorRow>& rows);
Result<std::vector<FactorRow>> read_factors(const json_t* rows);

}  // namespace weir::priority
