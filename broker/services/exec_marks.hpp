// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what {{NAME}} stands for in a job's command, environment and file names. Must not know processes or messages.
// Source: flux-submit(1), mustache templates.
#pragma once
#include <flux/core.h>

#include <string>

#include "broker/services/exec_spec.hpp"
#include "libfairshare/base/marks.hpp"

namespace weir::broker {

/// \param kind  as flux_job_id_encode() has them: "f58", "f58plain", "dec", "hex", "words"
std::string encode_id(flux_jobid_t id, const char* kind);
/// \param folder  the job's temporary folder
Marks marks_of(flux_jobid_t id, const ExecSpec& spec, const std::string& folder);

}  // namespace weir::broker
