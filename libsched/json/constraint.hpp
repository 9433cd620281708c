// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a job's constraints as JSON (RFC 31) to a value. Must not know which nodes there are.
// These constraints choose nodes for a job. Those of broker/services/job-manager/tables/constraint.hpp choose jobs for
// a listing (RFC 43): other operators over other values, so each has its own codec.
#pragma once
#include <string_view>

#include "libfairshare/base/json/json.hpp"
#include "libsched/resource/constraint.hpp"

namespace weir {

/// {"properties": ["fast", "^gpu"]}, {"hostlist": ["n[0-3]"]}, {"ranks": ["0-3"]}, {"and" | "or" | "not": [...]}; {} or
/// nothing: no constraint. Errors name the path and the operators there are. At most 64 levels deep, 65,536
/// host names and 10,000 elements of lists in all.
Result<Constraint> decode_constraint(json_t* document);
Result<Constraint> decode_constraint(std::string_view text);

}  // namespace weir
