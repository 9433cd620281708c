// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the options of flux-core's job shell that the embedded broker leaves out. There is no shell: job-exec's
// launcher stands for it. Source: flux-core's flux-shell(1).
#pragma once
#include "broker/services/job-manager/state/job.hpp"

namespace weir::broker::jobs {

/// Error: the option that a job is refused for, and why. Options that a job can do without are told on its stderr when
/// it starts (job-exec).
Status check_shell_options(const json_t* jobspec);

}  // namespace weir::broker::jobs
