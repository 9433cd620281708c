// SPDX-License-Identifier: LGPL-3.0-only
// Owns: reading the arguments with which the job-manager calls the plugin. Must not know the answers.
// Source: flux-jobtap-plugins(7).
#pragma once
#include <flux/core.h>

#include <string>

#include "modules/job-priority/tap/tap_accounts.hpp"
#include "modules/job-priority/tap/tap_table.hpp"

namespace weir::priority {

/// Reads all but the kind. False: an argument is missing.
bool unpack_question(flux_plugin_arg_t* args, TapQuestion& job);

/// The job's kind (job_kind.hpp); empty: none. Reads the jobspec.
std::string kind_of(flux_plugin_arg_t* args, int urgency);

/// The account, queue and project that a job names. Reads the jobspec, which the embedded job-manager decodes on
/// demand. False: it cannot be read.
bool unpack_submission(flux_plugin_arg_t* args, TapSubmission& job);

}  // namespace weir::priority
