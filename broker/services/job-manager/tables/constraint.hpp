// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the constraint of job-list.list: one-key objects over a job's facts, with and, or, not.
// Must not know: how jobs are stored or listed, flux_t.
// RFC 43 (job list constraints), RFC 31 (syntax).
#pragma once
#include <functional>

#include "broker/services/job-manager/state/job.hpp"

namespace weir::broker::jobs {

/// A compiled constraint.
using JobFilter = std::function<bool(const Job&)>;

/// Null or {} matches every job. Error: the operator and what its values must be.
Result<JobFilter> compile_constraint(const json_t* constraint);

/// States in which a job could match, as a mask: lets a list skip whole groups. Never excludes a matching state.
int states_of_constraint(const json_t* constraint);

}  // namespace weir::broker::jobs
